"""Models of scorers: the location of their weights, and scores stored on disk."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from django.conf import settings
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from argsum.datasets.models import CellArgument
from argsum.scorers.models import SHIPPED_MATCH, SHIPPED_QUALITY, Scorer
from argsum.systems.methods.inputs import Scores, cosines_into, sigmoid, with_topic
from cqa_site.judging.embedding import (
    DIFFERENCE_FILE,
    PACKAGED_MODEL,
    EmbeddingsUnavailable,
    SentenceEmbedder,
    embeddings_available,
    packaged_weights,
    require_packages,
)

# Scores and vectors are stored on disk, so that no model reads the same texts twice.
#
# A file's name is a hash of everything that affects its content. A file is written under another
# name and renamed when it is complete. A worker that dies leaves no partial file behind, and two
# workers that compute the same file replace it with equal content. Files unread for a month are
# deleted first.

DAY = 86_400
KEPT_DAYS = 30
# A partial file of this age belongs to a dead worker.
LEFTOVER_AFTER = DAY
MOST_BYTES = 8 * 2**30
UNFINISHED = ".part"

Fill = Callable[[Scores], object]


def folder() -> Path:
    """Return the folder of stored scores, creating it if necessary."""
    path = Path(settings.DATA_DIR) / "scores"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def texts_key(texts: Iterable[str]) -> str:
    """Return a hash of the texts in their order."""
    hasher = sha256()
    for text in texts:
        hasher.update(sha256(text.encode()).digest())
    return hasher.hexdigest()


def key_of(*parts: str) -> str:
    """Return a file name from everything that affects the content."""
    return texts_key(parts)


def kept(key: str, shape: tuple[int, ...], fill: Fill) -> Scores:
    """Return the array under ``key``, read-only and memory-mapped; ``fill(array)`` computes it.

    Parameters
    ----------
    key
        The result of `key_of`.
    shape
        Shape of the array; a file with another shape is rewritten.
    fill
        Function that writes all values of the given array. Called only if the file is missing.
    """
    if 0 in shape:
        return np.zeros(shape, dtype=np.float32)
    path = folder() / f"{key}.npy"
    scores = _read(path, shape)
    if scores is None:
        _write(path, shape, fill)
        scores = _read(path, shape)
        if scores is None:
            raise OSError(f"{path} cannot be read back.")
    return scores


def kept_rows(key: str, n: int, make: Callable[[], Scores]) -> Scores:
    """Return the vectors under ``key``, shape (n, d); ``make()`` computes them and sets d.

    Otherwise identical to `kept`.
    """
    path = folder() / f"{key}.npy"
    rows = _read(path, None)
    if rows is None or rows.ndim != 2 or len(rows) != n:
        scores = np.asarray(make(), dtype=np.float32)
        rows = kept(key, scores.shape, lambda out: np.copyto(out, scores))
    return rows


def clear_scores(now: float | None = None) -> int:
    """Delete partial files, files unread for a month, and the oldest files over the size limit."""
    now = time.time() if now is None else now
    gone, files = 0, []
    for path in folder().iterdir():
        try:
            seen = path.stat()
        except FileNotFoundError:
            continue
        limit = LEFTOVER_AFTER if path.suffix == UNFINISHED else KEPT_DAYS * DAY
        if now - seen.st_mtime > limit:
            path.unlink(missing_ok=True)
            gone += 1
        else:
            files.append((seen.st_mtime, seen.st_size, path))
    used = sum(size for _time, size, _path in files)
    for _time, size, path in sorted(files):
        if used <= MOST_BYTES:
            break
        path.unlink(missing_ok=True)
        used -= size
        gone += 1
    return gone


def _mapped(path: Path) -> NDArray[np.float32] | None:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (FileNotFoundError, ValueError, EOFError):
        return None


def _read(path: Path, shape: tuple[int, ...] | None) -> Scores | None:
    scores = _mapped(path)
    if scores is None or scores.dtype != np.float32 or shape not in (None, scores.shape):
        return None
    # Record the time of reading. On a read-only disk this fails, and the file is deleted earlier.
    try:
        os.utime(path)
    except OSError:
        return scores
    return scores


def _write(path: Path, shape: tuple[int, ...], fill: Fill) -> None:
    unfinished = path.with_name(f"{path.stem}-{uuid4().hex}{UNFINISHED}")
    try:
        array = np.lib.format.open_memmap(unfinished, mode="w+", dtype=np.float32, shape=shape)
        fill(array)
        array.flush()
        del array
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


# A name on the hub or of a folder in the data folder; it must not be a path.
NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
WEIGHTS = ("*.safetensors", "*.bin", "*.npz")
# Name of the file with the hashes of the shipped weights.
SUMS = "SHA256SUMS"
# Folders of the shipped weights by name.
_SHIPPED = Path(__file__).parents[1] / "shipped"
SHIPPED = {SHIPPED_MATCH: _SHIPPED / "match", SHIPPED_QUALITY: _SHIPPED / "quality"}

# Hash of the packaged model, used while its package is not installed.
PACKAGED_SHA256 = "5076c6045d315992ac1325636e50a5a084335f5edad94d16747e5d4370a0fb0d"


class ScorerRefused(Exception):
    """The scorer cannot be created or used; the message gives the reason."""


def trained_folder(scorer: Scorer) -> Path:
    """Return the folder of the weights trained here, which may not exist yet."""
    return scorer.stored_paths[0]


def checkpoint_of(scorer: Scorer) -> Path:
    """Return the folder for checkpoints of an unfinished training run."""
    return scorer.stored_paths[1]


def source_of(scorer: Scorer) -> str:
    """Return the folder or name from which the model is loaded."""
    if scorer.folder:
        return str(Path(settings.DATA_DIR) / "scorers" / scorer.folder)
    return resolve(scorer.base_model)


def resolve(model: str) -> str:
    """Return the folder of a model that is shipped or placed in ``models``; otherwise its name.

    Raises
    ------
    ScorerRefused
        For a path, because a form must not open a folder on the server.
    """
    if not NAME.fullmatch(model) or ".." in model:
        raise ScorerRefused(
            _("“%s” is neither a model name nor a folder in “models” in the data folder.") % model
        )
    if model in SHIPPED:
        return str(SHIPPED[model])
    folder = Path(settings.DATA_DIR) / "models" / model
    if folder.is_dir():
        return str(folder)
    if model != PACKAGED_MODEL and Path(model).exists():
        # sentence-transformers would prefer a folder of this name in the working directory.
        raise ScorerRefused(_("“%s” is a folder on the server, not a model.") % model)
    return model


def weights_hash(source: str) -> str:
    """Return the SHA-256 of all weights in a folder, or of the name of a hub model."""
    if source == PACKAGED_MODEL and not embeddings_available():
        return PACKAGED_SHA256
    path = Path(packaged_weights() if source == PACKAGED_MODEL else source)
    base = weights_hash(PACKAGED_MODEL) if (path / DIFFERENCE_FILE).is_file() else ""
    files = (
        sorted(file for pattern in WEIGHTS for file in path.rglob(pattern))
        if path.is_dir()
        else []
    )
    if not files:
        return sha256(f"name:{source}".encode()).hexdigest()
    return _hash_of_files(path, base, tuple(_state_of(file) for file in files))


# (file, device and inode, size, time of modification)
FileState = tuple[Path, tuple[int, int], int, tuple[int, int]]


def _state_of(file: Path) -> FileState:
    result = file.stat()
    times = (result.st_mtime_ns, result.st_ctime_ns)
    return file, (result.st_dev, result.st_ino), result.st_size, times


@lru_cache(maxsize=64)
def _hash_of_files(path: Path, base: str, files: tuple[FileState, ...]) -> str:
    """Return the hash of the weights, cached until a file changes."""
    hasher = sha256(base.encode())
    for file, *_state in files:
        hasher.update(str(file.relative_to(path)).encode())
        with file.open("rb") as content:
            while block := content.read(2**20):
                hasher.update(block)
    return hasher.hexdigest()


def model_key(scorer: Scorer) -> str:
    """Return the model's key in the names of files with stored scores."""
    return scorer.sha256 or sha256(f"name:{scorer.base_model}".encode()).hexdigest()


# Pairs per batch of a cross-encoder, and its maximum number of tokens.
BATCH, LONGEST = 32, 256


class BiEncoder:
    """Cosines of sentence vectors; the vectors of a list of texts are stored on disk.

    ``quick`` is passed to `SentenceEmbedder`.
    """

    def __init__(
        self, source: str, key: str, *, uses_topic: bool = False, quick: bool = False
    ) -> None:
        self.key, self.uses_topic = key, uses_topic
        # The model is loaded with the first text.
        self.embedder = SentenceEmbedder(source, quick=quick)

    def vectors(self, texts: Sequence[str]) -> Scores:
        """Return vectors of length 1, shape (n, d)."""
        key = key_of("vectors", self.key, texts_key(texts))
        return kept_rows(key, len(texts), lambda: self.embedder.encode(texts))

    def fill(
        self, out: Scores, rows: Sequence[str], columns: Sequence[str], *, topic: str = ""
    ) -> Scores:
        """Fill an array of shape (r, c) with cosines."""
        if not out.size:
            return out
        prefix = topic if self.uses_topic else ""
        first, second = (self.vectors(with_topic(texts, prefix)) for texts in (rows, columns))
        return cosines_into(out, first, second)


class CrossEncoder:
    """A model that reads two texts together, or a single text for its quality; scores are 0–1.

    It runs on the CPU in one thread. ``source`` is a folder, or a name that sentence-transformers
    can load. A single output is read as a logit; of two outputs, the second is the match. Raises
    EmbeddingsUnavailable at the first text if the model cannot be loaded.

    ``say`` is called after each row with the number of rows read. A large matrix takes hours, and
    a job must report progress and notice when it is cancelled.
    """

    def __init__(self, source: str, *, uses_topic: bool = False) -> None:
        self.source, self.uses_topic = source, uses_topic
        self.say: Callable[[int, int], None] = lambda done, total: None
        self._model: Any = None

    def fill(
        self, out: Scores, rows: Sequence[str], columns: Sequence[str], *, topic: str = ""
    ) -> Scores:
        """Fill an array of shape (r, c) with the scores of all pairs, row by row."""
        for place, text in enumerate(with_topic(rows, topic if self.uses_topic else "")):
            out[place] = self._read([(text, other) for other in columns])
            self.say(place + 1, len(rows))
        return out

    def scores(self, arguments: Sequence[str], *, topic: str = "") -> Scores:
        """Return scores of single texts, with the topic prepended if the scorer uses topics."""
        prefix = topic if self.uses_topic else ""
        return self._read([(text, "") for text in with_topic(arguments, prefix)])

    def _read(self, pairs: Sequence[tuple[str, str]]) -> Scores:
        """Return scores of n pairs, shape (n,); an empty second text means a single text."""
        if not pairs:
            return np.zeros(0, dtype=np.float32)
        if self._model is None:
            self._model = _load(self.source)
        import torch

        texts: Any = [first if not second else (first, second) for first, second in pairs]
        logits = self._model.predict(
            texts,
            batch_size=BATCH,
            show_progress_bar=False,
            activation_fn=torch.nn.Identity(),
            convert_to_numpy=True,
        )
        if logits.ndim == 2:
            logits = logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits[:, 0]
        return sigmoid(logits.astype(np.float32))


def _load(source: str) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if source == PACKAGED_MODEL:
        raise EmbeddingsUnavailable(f"{source} is a bi-encoder, which reads one text at a time.")
    require_packages()
    import torch
    from sentence_transformers import CrossEncoder as PairModel

    torch.set_num_threads(1)
    try:
        return PairModel(source, device="cpu", max_length=LONGEST)
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbeddingsUnavailable(f"The model {source!r} could not be loaded.") from error


class Regressor:
    """Linear regression on sentence vectors, fitted here.

    See `argsum.scorers.methods.training`.
    """

    def __init__(self, folder: Path, embedding: BiEncoder) -> None:
        self.folder, self.embedding = folder, embedding

    def scores(self, arguments: Sequence[str], *, topic: str = "") -> Scores:
        """Return quality, shape (n,); not clipped."""
        if not arguments:
            return np.zeros(0, dtype=np.float32)
        with np.load(self.folder / "regressor.npz", allow_pickle=False) as stored:
            weights, bias = stored["weights"], stored["bias"]
        predictions: Scores = (self.embedding.vectors(arguments) @ weights + bias).astype(
            np.float32
        )
        return predictions


class QualityColumn:
    """Quality imported with a study's arguments; NaN for arguments without a quality."""

    def __init__(self, study_id: int) -> None:
        self.study_id = study_id

    def scores(self, arguments: Sequence[str], *, topic: str = "") -> Scores:
        """Return each text's quality, from the newest argument with the text (and topic)."""
        from cqa_site.tabular.cells import text_key

        keys = [text_key(text) for text in arguments]
        rows = CellArgument.objects.filter(
            cell__dataset__study=self.study_id, sha256__in=set(keys), quality__isnull=False
        )
        if topic:
            rows = rows.filter(cell__topic=topic)
        known = dict(rows.order_by("pk").values_list("sha256", "quality"))
        return np.array([known.get(key, np.nan) for key in keys], dtype=np.float32)
