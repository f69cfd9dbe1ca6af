"""What those who operate a process ask of it: whether it lives, whether it can work, and its metrics.

The metrics name every tenant's sources and count what is hidden and refused, so they stand beside what the network may
ask only where this machine alone reaches them, and else on a port of their own.
"""

from collections.abc import Callable

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from upwell.errors import UpwellError
from upwell.runtime.serving import Listening, is_loopback

EVERYWHERE = "0.0.0.0"  # noqa: S104  probes and Prometheus come from other hosts

Exposition = Callable[[], bytes]
Ready = Callable[[], object]


def add_health(app: FastAPI, ready: Ready) -> None:
    """`/healthz`: the process lives; `/readyz`: it can work (`ready` raises an UpwellError while it cannot)."""

    @app.get("/healthz", response_class=PlainTextResponse)
    async def healthz() -> str:
        return "ok\n"

    @app.get("/readyz", response_class=PlainTextResponse)
    def readyz() -> Response:
        try:
            ready()
        except UpwellError as e:
            return PlainTextResponse(f"{e}\n", 503)
        return PlainTextResponse("ok\n")


def add_metrics(app: FastAPI, exposition: Exposition) -> None:
    """`/metrics`: the page that `exposition` gives, in Prometheus' text format."""

    @app.get("/metrics", response_class=PlainTextResponse)
    def metrics_page() -> Response:
        return Response(exposition(), media_type=CONTENT_TYPE_LATEST)


def expose(app: FastAPI, host: str, port: int, *, exposition: Exposition, ready: Ready) -> Listening | None:
    """Let operators reach the metrics of what `app` serves at `host`: there, if that is this machine's alone, and on
    `port` of every address, unless it is 0. Raises Misconfigured for a port that cannot be had."""
    if is_loopback(host):
        add_metrics(app, exposition)
    if not port:
        return None
    own = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    add_health(own, ready)
    add_metrics(own, exposition)
    return Listening(EVERYWHERE, port, own)


class Network:
    """Where a process answers the network, and its operators apart from it (`port`; 0: no port of their own)."""

    def __init__(self, port: int, *, exposition: Exposition, ready: Ready) -> None:
        self._port = port
        self._exposition = exposition
        self._ready = ready
        self._listening: list[Listening] = []

    def listen(self, app: FastAPI, host: str, port: int) -> str:
        """The URL where `app` answers from now on. Raises Misconfigured for an address that cannot be."""
        operators = expose(app, host, self._port, exposition=self._exposition, ready=self._ready)
        self._listening += [operators] if operators is not None else []
        self._listening.append(Listening(host, port, app))
        return self._listening[-1].url

    def close(self) -> None:
        """Answer what is in hand, then stop; the operators' port last."""
        for listening in reversed(self._listening):
            listening.close()
