"""A ledger as a process of its own: `python ledger_process.py BROKERS DATABASE PORT`."""

import logging
import sys

from memory_log import MemoryBlobs
from upwell.config import Settings
from upwell.runtime.eventlog import EventLog
from upwell.runtime.stream import ledger_worker


def main(brokers, database, port):
    logging.basicConfig(stream=sys.stderr)
    settings = Settings(brokers=brokers, port=int(port), session_timeout_s=2, drain_s=5)
    return ledger_worker.run(settings, lambda: (EventLog.at(database), MemoryBlobs()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
