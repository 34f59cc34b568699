"""Rows and figures as bytes with a hash, so that anybody who has a file can check a citation."""

import gzip
import hashlib
import io
import json
from collections.abc import Iterable
from typing import Any


def pack(chunks: Iterable[bytes]) -> tuple[bytes, str]:
    """Compress a table; return it with the sha256 of the plain bytes."""
    digest, packed = hashlib.sha256(), io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=5, mtime=0) as file:
        for chunk in chunks:
            digest.update(chunk)
            file.write(chunk)
    return packed.getvalue(), digest.hexdigest()


def plain(packed: bytes | memoryview) -> bytes:
    """The table itself."""
    return gzip.decompress(bytes(packed))


def json_sha256(content: dict[str, Any]) -> str:
    """Hash of canonical JSON; raises ValueError for what is none, as NaN."""
    text = json.dumps(content, allow_nan=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
