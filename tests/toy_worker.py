"""A worker process with a stage that copies changes to parsed, for tests of the guard and of Faust on a real broker.

python toy_worker.py BROKERS BLOBS MESSAGE_BYTES PORT PAUSE_S
"""

import logging
import sys
import time

import msgspec

from upwell.config import Settings
from upwell.errors import Misconfigured, Reason, Rejected, Retryable, UpwellError
from upwell.logs import line_of
from upwell.messages import Embedded, Parsed
from upwell.records import Block, Inline, Kind, ParsedDocument, ParseStatus, PreparedDocument
from upwell.runtime.stream import topics
from upwell.runtime.stream.contract import Outgoing
from upwell.runtime.stream.topics import Line, Role


class NoBlobs:
    """No message of these tests is too large for the log."""

    def put(self, key, data, version):
        raise AssertionError("too large")

    get = forget = put


class Copy:
    """What the title says happens: `poison` is refused, `slow` takes a second, `stuck` `stuck_s`, `crash` is a defect …"""

    def __init__(self, pause_s, stuck_s):
        self.pause_s = pause_s
        self.stuck_s = stuck_s

    def handle(self, message):
        event = message.event
        time.sleep(self.pause_s)
        match event.title:
            case "poison":
                raise Rejected(Reason.CORRUPT, "poison")
            case "slow":
                time.sleep(1.0)
            case "stuck":
                time.sleep(self.stuck_s)
            case "crash":
                raise ZeroDivisionError
            case "away":
                raise Retryable("the world is away")
            case "setting":
                raise Misconfigured("setting toy: wrong")
        text = event.content.data.decode() if isinstance(event.content, Inline) else ""
        event = msgspec.structs.replace(event, content=None)
        document = ParsedDocument(status=ParseStatus.OK, blocks=(Block(kind=Kind.PARAGRAPH, text=text),))
        return [
            Outgoing(
                topic=topics.laned(topics.PARSED, event.lane),
                key=event.key,
                message=Parsed(event=event, document=document),
            )
        ]

    def reject(self, message, fate):
        event = message.event
        failed = Embedded(event=event, document=PreparedDocument(status=ParseStatus.CORRUPT), fate=fate)
        return [Outgoing(topic=topics.laned(topics.EMBEDDED, event.lane), key=event.key, message=failed)]

    def close(self):
        pass


def main(brokers, *words):
    """Words are name=value: settings, or `pause_s` and `stuck_s`."""
    from upwell.runtime.stream import worker

    given = dict(word.split("=") for word in words)
    pause_s, stuck_s = float(given.pop("pause_s", 0)), float(given.pop("stuck_s", 0))
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(message)s")
    logging.getLogger().handlers[0].format = lambda record: f"{time.monotonic():.1f} {line_of(record)}"
    try:
        settings = Settings(brokers=brokers, **given)
        status = worker.run(settings, Role.PARSE, Line.LIVE, lambda _metrics: (Copy(pause_s, stuck_s), NoBlobs()))
    except UpwellError as e:
        print(f"toy: {e}", file=sys.stderr, flush=True)
        status = 2 if isinstance(e, Misconfigured) else 1
    sys.exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
