"""Settings: the only reader of the environment and of `upwell.toml`.

Order, strongest first: command-line flags, environment (`UPWELL_…`), the file (`--config`, else `upwell.toml` where it
stands), the defaults here. Each setting has one default, and it is the one in this file.
"""

import getpass
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from upwell.errors import Misconfigured

DEFAULT_CONFIG = Path("upwell.toml")


class Settings(BaseSettings):
    """Every setting of the embedded lake. `embedder` None means: the lake's own, or minilm for a new lake."""

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
        first = e.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "settings"
        raise Misconfigured(
            f"setting {name}: {first['msg'].lower()} (flag, UPWELL_{name.upper()} or upwell.toml)"
        ) from e


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
