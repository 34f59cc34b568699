"""Scores and vectors kept on disk, so that no model reads the same texts twice.

A file's name is a hash of everything that affects its content. It is written under another name
and renamed when it is whole: a worker that dies leaves nothing half there, and two workers that
compute the same file replace it by its equal. What nobody read for a month goes first.
"""

import os
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from argsum.systems.methods.scoring import Scores

DAY = 86_400
KEPT_DAYS = 30
# A half-written file is older than this only if its writer died.
LEFTOVER_AFTER = DAY
MOST_BYTES = 8 * 2**30
UNFINISHED = ".part"

Fill = Callable[[Scores], object]


def folder() -> Path:
    """Where the files are; made when first asked for."""
    found = Path(settings.DATA_DIR) / "scores"
    found.mkdir(mode=0o700, parents=True, exist_ok=True)
    return found


def texts_key(texts: Iterable[str]) -> str:
    """Hash of texts in their order."""
    found = sha256()
    for text in texts:
        found.update(sha256(text.encode()).digest())
    return found.hexdigest()


def key_of(*parts: str) -> str:
    """Name of a file from what affects its content."""
    return texts_key(parts)


def kept(key: str, shape: tuple[int, ...], fill: Fill) -> Scores:
    """The array under ``key``, read only and mapped into memory; ``fill(array)`` computes it.

    Parameters
    ----------
    key
        From `key_of`.
    shape
        Of the array; a file with another one is written again.
    fill
        Writes every value of the array it is given. Called only if the file is missing.
    """
    if 0 in shape:
        return np.zeros(shape, dtype=np.float32)
    path = folder() / f"{key}.npy"
    found = _read(path, shape)
    if found is None:
        _write(path, shape, fill)
        found = _read(path, shape)
        if found is None:
            raise OSError(f"{path} cannot be read back.")
    return found


def kept_rows(key: str, n: int, make: Callable[[], Scores]) -> Scores:
    """The vectors under ``key``, shape (n, d); ``make()`` computes them, and only then d is known.

    As `kept` otherwise.
    """
    path = folder() / f"{key}.npy"
    found = _read(path, None)
    if found is None or found.ndim != 2 or len(found) != n:
        made = np.asarray(make(), dtype=np.float32)
        found = kept(key, made.shape, lambda out: np.copyto(out, made))
    return found


def clear_scores(now: float | None = None) -> int:
    """Throw away what nobody read for a month, leftovers, and the oldest above the bound."""
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
    found = _mapped(path)
    if found is None or found.dtype != np.float32 or shape not in (None, found.shape):
        return None
    # Read now; a copy on a read-only disk cannot say so, which costs only its place in line.
    try:
        os.utime(path)
    except OSError:
        return found
    return found


def _write(path: Path, shape: tuple[int, ...], fill: Fill) -> None:
    unfinished = path.with_name(f"{path.stem}-{uuid4().hex}{UNFINISHED}")
    try:
        made = np.lib.format.open_memmap(unfinished, mode="w+", dtype=np.float32, shape=shape)
        fill(made)
        made.flush()
        del made
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
