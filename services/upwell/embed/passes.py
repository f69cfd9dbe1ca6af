"""One pass of an ONNX text model: token ids in, token vectors out. The only module that knows onnxruntime.

Upwell runs the weights itself, for every name, because one pass must give the pooled vector and the token vectors
(fastembed's interfaces give either), and because importing fastembed costs a second of a cold search; what fastembed
knows of a model by its name comes through `weights`. A test holds the result equal to fastembed's.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as states

from upwell.embed.pooling import Floats
from upwell.errors import Misconfigured, Retryable

VENDOR_ERRORS = (
    states.EngineError,
    states.EPFail,
    states.Fail,
    states.InvalidArgument,
    states.InvalidGraph,
    states.InvalidProtobuf,
    states.ModelLoaded,
    states.NoModel,
    states.NoSuchFile,
    states.NotImplemented,
    states.RuntimeException,
)


class OnnxPass:
    """A loaded model. Calls may come from several threads; they do not speed each other up."""

    def __init__(self, path: Path, threads: int) -> None:
        """Raises Misconfigured when the file is no model that takes token ids and gives one vector a token."""
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Parsers and the store share the cores. Spinning threads took 5.0 CPU seconds for what waiting ones did in 2.9,
        # and lost a third of the throughput beside other work; patterns of memory pay for one shape, ours all differ.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_mem_pattern = False
        try:
            self._session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except VENDOR_ERRORS as e:
            raise Misconfigured(f"embedder: {path} is not a model that can be loaded ({type(e).__name__})") from e
        self._inputs = {node.name for node in self._session.get_inputs()}
        shape = self._session.get_outputs()[0].shape
        if "input_ids" not in self._inputs or len(shape) != 3 or not isinstance(shape[2], int):
            raise Misconfigured(f"embedder: {path} does not turn token ids into one vector a token")
        self.dim: int = shape[2]

    def __call__(self, batch: Sequence[list[int]]) -> list[Floats]:
        """Token vectors (tokens x dim) of each text, padding taken off. Raises Retryable when the run failed."""
        width = max(map(len, batch))
        ids = np.zeros((len(batch), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(batch):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            output = self._session.run(None, {name: value for name, value in feed.items() if name in self._inputs})[0]
        except VENDOR_ERRORS as e:
            raise Retryable(f"the embedding model failed ({type(e).__name__})") from e
        return [output[row, : len(text)] for row, text in enumerate(batch)]
