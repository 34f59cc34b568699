"""Bytes that come in from outside: on disk under a name of ours, within the size limit."""

import hashlib
import os
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings


class TooLarge(Exception):
    """The upload is above the size limit."""


@dataclass(frozen=True)
class Stored:
    """An upload as it lies on disk."""

    stored_as: str
    size: int
    sha256: str


def path_of(folder: str, stored_as: str) -> Path:
    """Where the bytes lie; the name on disk is ours, never the client's."""
    return settings.MEDIA_ROOT / folder / stored_as


def write_upload(folder: str, chunks: Iterable[bytes]) -> Stored:
    """Stream an upload to disk under a random name; raises TooLarge above the limit."""
    target = path_of(folder, uuid.uuid4().hex)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return _write(target, chunks)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _write(target: Path, chunks: Iterable[bytes]) -> Stored:
    size, digest = 0, hashlib.sha256()
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > settings.MAX_UPLOAD_BYTES:
                raise TooLarge
            digest.update(chunk)
            file.write(chunk)
    return Stored(target.name, size, digest.hexdigest())
