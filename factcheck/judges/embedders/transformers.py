"""Models of the `sentence-transformers` package, by name or path, on the processor."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from factcheck.errors import ConfigError
from factcheck.judges.ports import EmbeddingResult

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger

_MODULE = "sentence_transformers"
_PACKAGE = "sentence-transformers"


class SentenceTransformerEmbedder:
    """Turns texts into vectors with a trained model; fulfils `Embedder`.

    The model is loaded on first use; one that is named and not on this machine is then downloaded
    by the package. A model reads only so much of a text, often 256 tokens, and cuts off the rest.
    The last decimals of a similarity may depend on what else was asked at the same time.

    Args:
        model: A name, or the path of a folder.

    Raises:
        ConfigError: The package is not installed.
    """

    def __init__(self, model: str) -> None:
        if importlib.util.find_spec(_MODULE) is None:
            raise ConfigError(
                f"the model {model!r} needs the package {_PACKAGE}; "
                "install it with: pip install 'factcheck[embeddings]'"
            )
        self._name = model
        self._model: Any = None
        self._one_at_a_time = threading.Lock()

    @property
    def identity(self) -> Mapping[str, str]:
        return {"embedder": f"{_PACKAGE}/{self._name}", _PACKAGE: _version()}

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        """One vector per text, in their order.

        Raises:
            ConfigError: The model cannot be loaded.
        """
        del ledger
        return await asyncio.to_thread(self._embed, list(texts)) if texts else []

    def _embed(self, texts: list[str]) -> list[EmbeddingResult]:
        with self._one_at_a_time:
            if self._model is None:
                self._model = self._load()
            return list(self._model.encode(texts, show_progress_bar=False, convert_to_numpy=True))

    def _load(self) -> Any:
        try:
            return importlib.import_module(_MODULE).SentenceTransformer(self._name, device="cpu")
        except Exception as error:
            raise ConfigError(
                f"the model {self._name!r} cannot be loaded ({type(error).__name__}: {error}); "
                "give the name of a sentence-transformers model, or a folder that holds one"
            ) from error


def _version() -> str:
    try:
        return version(_PACKAGE)
    except PackageNotFoundError:
        return "unknown"
