"""A process that audits as fast as it can: `python audit_writer.py WHERE THREADS`; prints each number once durable."""

import itertools
import sys
import threading
from pathlib import Path

from audits import searched
from upwell.audit.log import SqlAudit


def main(where, threads):
    audit = SqlAudit.at(where if "://" in where else Path(where))
    numbers = itertools.count()

    def write():
        for number in numbers:
            audit.write(searched(number))
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()

    started = [threading.Thread(target=write) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
