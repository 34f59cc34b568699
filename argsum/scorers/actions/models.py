"""The models behind scorers: where their weights are, and what reads texts with them."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings
from django.utils.translation import gettext as _

from argsum.datasets.models import CellArgument
from argsum.scorers.models import SHIPPED_MATCH, SHIPPED_QUALITY, Scorer
from argsum.systems.methods.scoring import Scores, cosines_into, with_topic
from cqa_site.judging.embedding import (
    DIFFERENCE,
    PACKAGED_MODEL,
    SentenceEmbedder,
    embeddings_available,
    packaged_weights,
)

from .score_files import kept_rows, key_of, texts_key

if TYPE_CHECKING:
    from .cross_encoder import PairReader

# A name on the hub, or of a folder below the data folder: nothing that walks a file system.
NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
WEIGHTS = ("*.safetensors", "*.bin", "*.npz")
# Beside weights that come with the site: what their bytes are.
SUMS = "SHA256SUMS"
# Weights that come with the site: name → folder.
_SHIPPED = Path(__file__).parents[1] / "shipped"
SHIPPED = {SHIPPED_MATCH: _SHIPPED / "match", SHIPPED_QUALITY: _SHIPPED / "quality"}

# Of the packaged model, for as long as its package is not here to be read.
PACKAGED_SHA256 = "5076c6045d315992ac1325636e50a5a084335f5edad94d16747e5d4370a0fb0d"


class ScorerRefused(Exception):
    """A scorer cannot be made or used like this; the message says why."""


def trained_folder(scorer: Scorer) -> Path:
    """Where the weights trained here are, or will be."""
    return Path(settings.DATA_DIR) / "scorers" / scorer.public_id.hex


def checkpoint_of(scorer: Scorer) -> Path:
    """The folder in which a training that is not over keeps what it has learned."""
    folder = trained_folder(scorer)
    return folder.with_name(f"{folder.name}-checkpoint")


def source_of(scorer: Scorer) -> str:
    """What loads the model: a folder, or a name."""
    if scorer.folder:
        return str(Path(settings.DATA_DIR) / "scorers" / scorer.folder)
    return resolve(scorer.base_model)


def resolve(model: str) -> str:
    """The folder of a model that comes with the site or was put below ``models``, else the name.

    Raises
    ------
    ScorerRefused
        For anything that is neither: a path from a form must not open a folder of the server.
    """
    if not NAME.fullmatch(model) or ".." in model:
        raise ScorerRefused(
            _("“%s” is no name of a model, nor of a folder in “models” of the data folder.")
            % model
        )
    if model in SHIPPED:
        return str(SHIPPED[model])
    folder = Path(settings.DATA_DIR) / "models" / model
    if folder.is_dir():
        return str(folder)
    if model != PACKAGED_MODEL and Path(model).exists():
        # sentence-transformers would take a folder beside the running program for the name.
        raise ScorerRefused(_("“%s” is a folder of the server, not a model.") % model)
    return model


def weights_hash(source: str) -> str:
    """SHA-256 of all weights in a folder; of a name on the hub only the name is known."""
    if source == PACKAGED_MODEL and not embeddings_available():
        return PACKAGED_SHA256
    path = Path(packaged_weights() if source == PACKAGED_MODEL else source)
    base = weights_hash(PACKAGED_MODEL) if (path / DIFFERENCE).is_file() else ""
    files = sorted(file for each in WEIGHTS for file in path.rglob(each)) if path.is_dir() else []
    if not files:
        return sha256(f"name:{source}".encode()).hexdigest()
    return _hash_of_files(path, base, tuple(_state_of(file) for file in files))


# (file, device and inode, size, when it was changed)
FileState = tuple[Path, tuple[int, int], int, tuple[int, int]]


def _state_of(file: Path) -> FileState:
    found = file.stat()
    times = (found.st_mtime_ns, found.st_ctime_ns)
    return file, (found.st_dev, found.st_ino), found.st_size, times


@lru_cache(maxsize=64)
def _hash_of_files(path: Path, base: str, files: tuple[FileState, ...]) -> str:
    """Weights are read once, for as long as none of their files changes."""
    found = sha256(base.encode())
    for file, *_state in files:
        found.update(str(file.relative_to(path)).encode())
        with file.open("rb") as content:
            while block := content.read(2**20):
                found.update(block)
    return found.hexdigest()


def model_key(scorer: Scorer) -> str:
    """What stands for the model in the names of stored scores."""
    return scorer.sha256 or sha256(f"name:{scorer.base_model}".encode()).hexdigest()


class BiEncoder:
    """Cosines of sentence vectors; the vectors of a list of texts are kept on disk.

    ``quick`` is that of `SentenceEmbedder`.
    """

    def __init__(
        self, source: str, key: str, *, uses_topic: bool = False, quick: bool = False
    ) -> None:
        self.key, self.uses_topic = key, uses_topic
        # Loads nothing before the first text.
        self.embedder = SentenceEmbedder(source, quick=quick)

    def vectors(self, texts: Sequence[str]) -> Scores:
        """Vectors of length 1, shape (n, d)."""
        key = key_of("vectors", self.key, texts_key(texts))
        return kept_rows(key, len(texts), lambda: self.embedder.encode(texts))

    def matrix(self, rows: Sequence[str], columns: Sequence[str], *, topic: str = "") -> Scores:
        """Cosines, shape (r, c)."""
        out = np.empty((len(rows), len(columns)), dtype=np.float32)
        return self.fill(out, rows, columns, topic=topic)

    def fill(
        self, out: Scores, rows: Sequence[str], columns: Sequence[str], *, topic: str = ""
    ) -> Scores:
        """As `matrix`, into an array that is there."""
        if not out.size:
            return out
        prefix = topic if self.uses_topic else ""
        first, second = (self.vectors(with_topic(texts, prefix)) for texts in (rows, columns))
        return cosines_into(out, first, second)


class CrossEncoder:
    """A model that reads both texts together, or one text for its quality; 0–1.

    ``say`` hears after each row how many are read: a large matrix takes hours, and whoever works
    for a job must say that they live, and hear that it was cancelled.
    """

    def __init__(self, source: str, *, uses_topic: bool = False) -> None:
        self.source, self.uses_topic = source, uses_topic
        self.say: Callable[[int, int], None] = lambda done, total: None
        self._reader: PairReader | None = None

    def fill(
        self, out: Scores, rows: Sequence[str], columns: Sequence[str], *, topic: str = ""
    ) -> Scores:
        """Scores of all pairs row by row, into an array of shape (r, c)."""
        for place, text in enumerate(with_topic(rows, topic if self.uses_topic else "")):
            out[place] = self._read([(text, other) for other in columns])
            self.say(place + 1, len(rows))
        return out

    def matrix(self, rows: Sequence[str], columns: Sequence[str], *, topic: str = "") -> Scores:
        """Scores of all pairs, shape (r, c)."""
        return self.fill(
            np.empty((len(rows), len(columns)), np.float32), rows, columns, topic=topic
        )

    def scores(self, arguments: Sequence[str], *, topic: str = "") -> Scores:
        """Scores of single texts, each read after its topic where the scorer uses one."""
        prefix = topic if self.uses_topic else ""
        return self._read([(text, "") for text in with_topic(arguments, prefix)])

    def _read(self, pairs: list[tuple[str, str]]) -> Scores:
        if self._reader is None:
            from .cross_encoder import PairReader

            self._reader = PairReader(self.source)
        return self._reader.read(pairs)


class Regressor:
    """A line through sentence vectors, fitted here; see `argsum.scorers.methods.ridge`."""

    def __init__(self, folder: Path, embedding: BiEncoder) -> None:
        self.folder, self.embedding = folder, embedding

    def scores(self, arguments: Sequence[str], *, topic: str = "") -> Scores:
        """Quality, shape (n,); not clipped."""
        if not arguments:
            return np.zeros(0, dtype=np.float32)
        with np.load(self.folder / "regressor.npz", allow_pickle=False) as stored:
            weights, bias = stored["weights"], stored["bias"]
        found: Scores = (self.embedding.vectors(arguments) @ weights + bias).astype(np.float32)
        return found


class Column:
    """The quality that came with the arguments of a study; NaN where the file had none."""

    def __init__(self, study_id: int) -> None:
        self.study_id = study_id

    def scores(self, arguments: Sequence[str], *, topic: str = "") -> Scores:
        """The value of the newest argument with each text, on the topic if one is given."""
        from annotation.corpus.models.questions import text_key

        keys = [text_key(text) for text in arguments]
        rows = CellArgument.objects.filter(
            cell__dataset__study=self.study_id, sha256__in=set(keys), quality__isnull=False
        )
        if topic:
            rows = rows.filter(cell__topic=topic)
        known = dict(rows.order_by("pk").values_list("sha256", "quality"))
        return np.array([known.get(key, np.nan) for key in keys], dtype=np.float32)
