"""What fastembed knows by name: which files a model has, where to fetch them, how its token vectors become one."""

from pathlib import Path
from typing import Literal

from fastembed import TextEmbedding
from fastembed.text.onnx_embedding import OnnxTextEmbedding
from fastembed.text.pooled_embedding import PooledEmbedding
from fastembed.text.pooled_normalized_embedding import PooledNormalizedEmbedding
from loguru import logger

from upwell.embed.weights import Weights, in_folder
from upwell.errors import Misconfigured

POOLING: dict[type, Literal["mean", "cls"]] = {
    OnnxTextEmbedding: "cls",
    PooledEmbedding: "mean",
    PooledNormalizedEmbedding: "mean",
}


def pooling_of(name: str) -> Literal["mean", "cls"] | None:
    """How fastembed's model `name` is pooled; None for no such model, or one pooled in a way of its own."""
    for kind, pooling in POOLING.items():
        known = kind._list_supported_models()  # type: ignore[attr-defined]  # noqa: SLF001 (no public way)
        if any(name.lower() == model.model.lower() for model in known):
            return pooling
    return None


def fetched(name: str, models: Path | None) -> Weights:
    """Weights of a model by name, from fastembed's cache (in `models`, if given) or fetched into it.

    Raises Misconfigured when there is no such model or its weights cannot be had.
    """
    pooling = pooling_of(name)
    if pooling is None:
        raise Misconfigured(
            f"embedder {name}: not minilm, hash, a folder with weights, or a model that fastembed pools by mean or CLS"
        )
    logger.disable("fastembed")  # it tells of each try on standard error; the error below says it once
    try:
        model = TextEmbedding(name, cache_dir=None if models is None else str(models), lazy_load=True).model
    except (OSError, ValueError) as e:
        raise Misconfigured(
            f"embedder {name}: its weights could not be fetched ({type(e).__name__}); "
            "put model.onnx and tokenizer.json into a folder, and give it as --embedder FOLDER, "
            f"or as FOLDER/{name} with the setting models (UPWELL_MODELS)"
        ) from e
    return in_folder(Path(model._model_dir), pooling)  # type: ignore[attr-defined]  # noqa: SLF001 (no public way)
