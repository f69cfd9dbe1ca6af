"""PostgreSQL as the distributed lake wants it: durable commits, whole snapshots, a server that may pause or go away."""

import re
import time
from typing import Any

import sqlalchemy as sa

from upwell.errors import Broken, Misconfigured, Reason, Rejected, Retryable, UpwellError

DRIVER = "postgresql+psycopg"
SCHEMES = ("postgresql", "postgres", DRIVER)
POOL_SIZE = 16
"""Connections that one process holds at most."""
CONNECT_TIMEOUT_S = 10
RESTED_S = 1.0
DEAD_PEER_MS = 30_000
"""A host that acknowledges nothing for so long is gone. A server that is merely paused still acknowledges (its kernel
does), and is waited for."""
UNTOLD = (None,) * 5
"""What a column's description may leave out, https://peps.python.org/pep-0249/#description."""

_REFUSED = re.compile(
    r"password authentication failed|no password supplied|database .* does not exist|role .* does not exist"
    r"|no pg_hba\.conf entry|permission denied|certificate|invalid sslmode|invalid connection option"
)
"""What a server or the driver says, while connecting, of a setting that is wrong: no code comes with it then."""

_MISCONFIGURED = ("28", "3D", "3F", "42", "0A", "XX001", "XX002")
_BAD_INPUT = ("22", "54")
"""By class or code of SQLSTATE, https://www.postgresql.org/docs/15/errcodes-appendix.html. What is in neither list
(connection, serialization, deadlock, resources, shutdown, read-only standby) passes with time."""


def is_postgres_url(text: str) -> bool:
    """True for `postgresql://…`, in all its spellings."""
    return text.partition("://")[0] in SCHEMES and "://" in text


def open_postgres(url: str, name: str = "upwell") -> sa.Engine:
    """An engine on `postgresql://user:password@host:port/database?sslmode=…`; nothing is connected yet.

    Writers read what is committed; a transaction with the execution option `read_only` sees one snapshot. `name` is
    shown in pg_stat_activity. Parameters hold document text, so errors never show them. Raises Misconfigured for what
    is not such a URL, never quoting it.
    """
    try:
        parsed = sa.make_url(url).set(drivername=DRIVER)
        engine = sa.create_engine(
            parsed,
            connect_args={
                "application_name": name,
                "connect_timeout": CONNECT_TIMEOUT_S,
                "keepalives": 1,
                "keepalives_idle": 15,
                "keepalives_interval": 5,
                "keepalives_count": 3,
                "tcp_user_timeout": DEAD_PEER_MS,
                "cursor_factory": _plain_cursor(),
            },
            hide_parameters=True,
            pool_size=POOL_SIZE,
            max_overflow=0,
            isolation_level="READ COMMITTED",
        )
    except (sa.exc.ArgumentError, ValueError):
        raise Misconfigured("registry: not a URL like postgresql://user:password@host/database") from None
    except ModuleNotFoundError as e:
        raise Misconfigured(
            f"registry: PostgreSQL needs the package {e.name}: pip install 'upwell[distributed]'"
        ) from e
    _ask_the_rested(engine)
    return engine


def _plain_cursor() -> type[Any]:
    """A cursor that describes its columns by name and type alone. SQLAlchemy asks every result for its description,
    and the driver's, an object a column, is a quarter of what reading a document's row costs."""
    from psycopg import Cursor  # noqa: PLC0415 an optional package

    class PlainCursor(Cursor[Any]):
        @property
        def description(self) -> Any:
            result = self.pgresult
            if result is None or not result.nfields:
                return super().description
            columns = range(result.nfields)
            return [((result.fname(n) or b"").decode(), result.ftype(n), *UNTOLD) for n in columns]

    return PlainCursor


def _ask_the_rested(engine: sa.Engine) -> None:
    """Ask a connection that has rested in the pool whether it still is one; a new one takes its place.

    The pool's own pre-ping asks each time, which is a fifth of what a small transaction costs.
    """

    @sa.event.listens_for(engine, "checkin")
    def _rest(_connection: Any, record: Any) -> None:
        record.info["rests_since"] = time.monotonic()

    @sa.event.listens_for(engine, "checkout")
    def _wake(connection: Any, record: Any, _proxy: Any) -> None:
        if time.monotonic() - record.info.get("rests_since", time.monotonic()) < RESTED_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as e:
            raise sa.exc.DisconnectionError from e


def check_server(connection: sa.Connection) -> None:
    """Raises Misconfigured for a database that cannot hold every text, or may lose commits that it acknowledged."""
    encoding, commit = connection.exec_driver_sql(
        "SELECT current_setting('server_encoding'), current_setting('synchronous_commit')"
    ).one()
    if encoding != "UTF8":
        raise Misconfigured(f"registry: the database's encoding is {encoding}; create it with ENCODING 'UTF8'")
    if commit == "off":
        raise Misconfigured(
            "registry: the server has synchronous_commit = off, which loses events in a crash; set it on"
        )


def postgres_fault(error: sa.exc.DBAPIError, what: str) -> UpwellError:
    """A vendor's error as ours, in one line that holds no password and no parameter."""
    cause: Any = error.orig
    code: str = getattr(cause, "sqlstate", None) or ""
    text = _line(cause)
    if code.startswith(_BAD_INPUT) and code != "54001":
        return Rejected(Reason.INVALID_EVENT, f"the {what} cannot hold this ({code})")
    if code.startswith(_MISCONFIGURED) or (not code and _REFUSED.search(text)):
        return Broken(f"the {what} refuses: {text}")
    return Retryable(f"the {what} cannot be used now: {text}")


def _line(cause: object) -> str:
    """The primary message: what follows (DETAIL, CONTEXT) may quote rows."""
    primary = getattr(getattr(cause, "diag", None), "message_primary", None)
    if primary:
        return str(primary).partition("\n")[0]
    first = str(cause).strip().partition("\n")[0]
    return first.rpartition("FATAL:")[2].strip() or first
