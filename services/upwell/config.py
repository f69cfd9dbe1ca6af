"""Settings: the only reader of the environment and of `upwell.toml`.

Order, strongest first: command-line flags, environment (`UPWELL_…`), the file (`--config`, else `upwell.toml` where it
stands), the defaults here. Each setting has one default, and it is the one in this file.
"""

import difflib
import getpass
import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from upwell.errors import Misconfigured

DEFAULT_CONFIG = Path("upwell.toml")


class AclSettings(BaseModel):
    """A permission in the settings: levels that must all admit the reader, and who is denied."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    levels: tuple[frozenset[str], ...] = ()
    deny: frozenset[str] = frozenset()


class KeySettings(BaseModel):
    """A bearer key of the gateway, bound to one tenant and one source. `sha256` is the key's digest, in hex.

    With `directory` it may say who the tenant's users are and which groups they are in; it needs no source then.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    source: str = ""
    tenant: str = "default"
    directory: bool = False

    @model_validator(mode="after")
    def _may_something(self) -> Self:
        if not self.source and not self.directory:
            raise ValueError("a key names its source, or may feed the directory")
        return self


class SourceSettings(BaseModel):
    """What is known of a source beforehand: who signs its hooks, how its content is fetched, who may read by default.

    `hook` is the kind of its notifications; `secret` signs them (HMAC) or stands in their Authorization header.
    `connector` is the fsspec protocol that fetches what a hook names; `options` go to it as they are (endpoint_url,
    key, secret …); `roots` are the URL prefixes that it may fetch from, none for nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenant: str = "default"
    hook: Literal["s3", "cloudevents", "hmac"] | None = None
    secret: SecretStr | None = None
    signature_header: str = "X-Signature-256"
    connector: str | None = None
    options: dict[str, Any] = Field({}, repr=False)
    roots: tuple[str, ...] = ()
    acl: AclSettings = AclSettings()


class IssuerSettings(BaseModel):
    """Whose tokens are taken: their `iss` and `aud`, where their keys are (`jwks`: a URL or a file, read again when it
    changes), and which claims say who somebody is.

    `algorithms` are those that are allowed, never `none`; `leeway_s` is how wrong a clock may be. Tokens of this issuer
    read `tenant`, unless `tenant_claim` names the claim that says which.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: str
    audience: str
    jwks: str
    algorithms: tuple[str, ...] = ("RS256", "ES256", "EdDSA")
    leeway_s: Annotated[float, Field(ge=0, le=600)] = 30.0
    user_claim: str = "sub"
    groups_claim: str = "groups"
    tenant_claim: str | None = None
    tenant: str = "default"


class Settings(BaseSettings):
    """Every setting. `embedder` None means: the lake's own, or minilm for a new lake.

    The lake is embedded unless `brokers` says where Kafka is; the parts of a distributed lake are chosen by URL.
    """

    model_config = SettingsConfigDict(env_prefix="UPWELL_", extra="forbid", frozen=True, env_ignore_empty=True)

    lake: Path = Field(Path(".upwell"), description="The lake's folder.")
    embedder: str | None = Field(None, description="minilm, hash, a fastembed model's name or a folder with weights.")
    models: Path | None = Field(None, description="A folder with model weights, for embedders that are not shipped.")
    threads: Annotated[int, Field(ge=1, le=64)] = Field(2, description="Threads of the embedding model.")
    parsers: Annotated[int, Field(ge=1, le=16)] = Field(2, description="Sandboxed parser processes.")
    workers: Annotated[int, Field(ge=1, le=64)] = Field(16, description="Documents in hand at a time.")
    owner_wait_s: Annotated[float, Field(ge=0)] = Field(10.0, description="How long to wait for a lake's owner.")
    rescan_s: Annotated[float, Field(gt=0)] = Field(
        600.0, description="A full comparison with the folder every so often."
    )
    retry_limit_s: Annotated[float, Field(gt=0)] = Field(30.0, description="The longest pause between two tries.")
    parse_timeout_s: Annotated[float, Field(gt=0)] = Field(60.0, description="Wall-clock limit of one parse.")

    arbitrate: bool = Field(True, description="Where two parsers can read a file, run both and keep the better.")
    office_comments: bool = Field(False, description="Whether reviewers' comments in office files are searchable.")
    office_revisions: Literal["accepted", "both"] = Field(
        "accepted", description="Tracked changes as if accepted, or the deleted words too."
    )
    ocr: bool = Field(True, description="Read the words in pictures of pages where the extra `ocr` is installed.")
    layout: bool = Field(True, description="Let a model see a PDF's layout where the extra `layout` is installed.")

    brokers: str | None = Field(None, description="Kafka's brokers, host:port,host:port; unset: the embedded lake.")
    registry: SecretStr | None = Field(None, description="postgresql://user:password@host/name; unset: SQLite.")
    store: str | None = Field(None, description="A Qdrant server's URL; unset: Qdrant Edge in the lake's folder.")
    store_api_key: SecretStr | None = Field(None, description="The Qdrant server's API key.")
    blobs: str | None = Field(None, description="An fsspec URL for large contents; unset: a folder in the lake's.")
    blob_options: dict[str, Any] = Field({}, description="Options of that fsspec filesystem, as they are.", repr=False)
    partitions: Annotated[int, Field(ge=1, le=1000)] = Field(12, description="Partitions of every topic.")
    replication: Annotated[int, Field(ge=1, le=9)] = Field(3, description="Replicas of every partition.")
    retention_days: Annotated[float, Field(gt=0)] = Field(7.0, description="How long topics keep messages.")
    dead_retention_days: Annotated[float, Field(gt=0)] = Field(90.0, description="How long dead letters are kept.")
    compaction_lag_days: Annotated[float, Field(gt=0)] = Field(
        2.0, description="After so long an erased document has left the topics."
    )
    message_bytes: Annotated[int, Field(ge=64 * 1024, le=64 * 1024 * 1024)] = Field(
        1_000_000, description="The largest message; what is larger goes by the blob store."
    )
    session_timeout_s: Annotated[float, Field(gt=0)] = Field(10.0, description="A silent worker is replaced after it.")
    breaker_share: Annotated[float, Field(gt=0, le=1)] = Field(
        0.5, description="A worker stops when this share of its last messages were dead letters, refused files apart."
    )
    breaker_messages: Annotated[int, Field(ge=10)] = Field(200, description="How many last messages that counts.")
    drain_s: Annotated[float, Field(gt=0)] = Field(20.0, description="How long SIGTERM waits for what is in hand.")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        0, description="Health and metrics, for operators alone; 0: none."
    )
    max_pending: Annotated[int, Field(ge=1)] = Field(100_000, description="Events in the log before 429 is answered.")
    keys: tuple[KeySettings, ...] = Field((), description="Bearer keys of the gateway; none: every event is refused.")
    issuers: tuple[IssuerSettings, ...] = Field((), description="Whose tokens may search; the lake's own key always.")
    audience: str = Field("upwell", description="The audience of the tokens that the lake signs itself.")
    signing_key: Path | None = Field(None, description="The lake's private key; unset: signing-key.json in its folder.")
    rate_per_minute: Annotated[int, Field(ge=1)] = Field(600, description="Requests of one tenant before 429.")
    acl_max_age_s: Annotated[float, Field(ge=0)] = Field(
        86_400.0, description="How long a permission holds that its source cannot confirm; then it hides."
    )
    shrink_limit: Annotated[float, Field(ge=0, le=1)] = Field(
        0.3, description="A listing that lost a larger share deletes nothing before `upwell approve`."
    )
    audit_queries: Literal["hash", "text"] = Field("hash", description="What the audit keeps of a query.")
    sources: dict[str, SourceSettings] = Field({}, description="What is known of sources: hooks, connectors, ACLs.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags and environment; the file is merged below them by `load`."""
        return init_settings, env_settings


def load(*, config: Path | None = None, **flags: Any) -> Settings:
    """Settings from flags (those that are not None), environment and file.

    Raises Misconfigured, naming the setting, for an unknown or unusable one.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    from_file = {name: value for name, value in _file(config).items() if f"UPWELL_{name.upper()}" not in os.environ}
    try:
        return Settings(**{**from_file, **given})
    except ValidationError as e:
        raise Misconfigured(_wrong(e.errors()[0])) from e
    except SettingsError as e:  # its text repeats nothing of the value
        named = re.search(r'field "(\w+)"', str(e))
        variable = f"UPWELL_{named[1].upper()}" if named else "a variable UPWELL_…"
        raise Misconfigured(f"{variable} is not JSON, as settings of more than one value are in the environment") from e


def _wrong(first: ErrorDetails) -> str:
    """What is wrong with a setting, and where it may stand; what it says is not repeated, for it may be a secret."""
    name = ".".join(str(part) for part in first["loc"]) or "settings"
    top = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        alike = difflib.get_close_matches(name, Settings.model_fields, 1) if name == top else []
        return f"setting {name}: there is none of this name" + (f"; {alike[0]} is one" if alike else "")
    said = first["msg"].removeprefix("Value error, ")
    return f"setting {name}: {said[:1].lower()}{said[1:]} (flag, UPWELL_{top.upper()} or upwell.toml)"


def login_name() -> str:
    """The name of whoever runs the command: the default owner and reader."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return f"uid{os.getuid()}"


def _file(config: Path | None) -> dict[str, Any]:
    path = config or DEFAULT_CONFIG
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if config is None:
            return {}
        raise Misconfigured(f"--config {path}: no such file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
        raise Misconfigured(f"{path}: not readable as TOML ({e})") from e
