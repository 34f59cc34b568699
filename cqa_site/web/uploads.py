"""Uploads on disk."""

import hashlib
import os
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest


class TooLarge(Exception):
    """The upload is above the size limit."""


@dataclass(frozen=True)
class StoredUpload:
    """An upload as stored on disk."""

    stored_as: str
    size: int
    sha256: str


def path_of(folder: str, stored_as: str) -> Path:
    """Return the path of an upload; the site chooses its name on disk, never the client."""
    return settings.MEDIA_ROOT / folder / stored_as


def write_upload(folder: str, chunks: Iterable[bytes]) -> StoredUpload:
    """Stream an upload to disk under a random name; raise TooLarge above the limit."""
    target = path_of(folder, uuid.uuid4().hex)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return _write(target, chunks)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _write(target: Path, chunks: Iterable[bytes]) -> StoredUpload:
    size, digest = 0, hashlib.sha256()
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > settings.MAX_UPLOAD_BYTES:
                raise TooLarge
            digest.update(chunk)
            file.write(chunk)
    return StoredUpload(target.name, size, digest.hexdigest())


FORM_SLACK = 1024 * 1024
MOST_DRAINED = 4 * 64 * 1024 * 1024


def is_too_large(request: HttpRequest) -> bool:
    """Return whether the body is too large; if so, discard it, so that the reply is shown."""
    if int(request.META.get("CONTENT_LENGTH") or 0) <= settings.MAX_UPLOAD_BYTES + FORM_SLACK:
        return False
    left = MOST_DRAINED
    while left > 0 and (piece := request.read(65_536)):
        left -= len(piece)
    return True
