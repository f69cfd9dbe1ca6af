"""A child that a document has taken over, `python -m lying_child SOCKET LIFELINE HOW`: its answers are not what they say."""

import socket
import sys
import time

from upwell.child import HEADER, RESULT, receive


def main():
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        receive(channel)
        if sys.argv[3] == "huge":
            channel.sendall(HEADER.pack(2**60, RESULT))
        channel.sendall(HEADER.pack(1000, RESULT))
        while True:  # a byte at a time, for ever
            channel.sendall(b"x")
            time.sleep(0.05)


if __name__ == "__main__":
    main()
