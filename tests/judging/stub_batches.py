"""Files and batches of the stub: kept in memory, finished after a set time."""

import json
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .stub_http import Request, Wire

WINDOW = 24 * 3600


@dataclass
class Batch:
    """One batch; results exist from the moment it ends."""

    id: str
    input_file_id: str
    endpoint: str
    metadata: dict[str, str]
    created_at: float
    status: str = "in_progress"
    ended_at: float = 0.0
    output_file_id: str | None = None
    error_file_id: str | None = None
    counts: dict[str, int] = field(default_factory=dict)


class Batches:
    """The ``/files`` and ``/batches`` part of the interface.

    ``complete`` takes a request body and returns (status, response body).
    """

    def __init__(self, complete: Callable[[dict], tuple[int, dict]], conduct: Any) -> None:
        self._complete = complete
        self._conduct = conduct
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Batch] = {}

    def handle(self, request: Request, wire: Wire, parts: list[str]) -> None:
        match (request.method, *parts):
            case ("POST", "files"):
                self._upload(request, wire)
            case ("GET", "files", name, "content") if name in self.files:
                wire.send(200, self.files[name], {"content-type": "application/jsonl"})
            case ("POST", "batches"):
                self._create(request, wire)
            case ("GET", "batches"):
                listed = [self._shown(batch) for batch in self.batches.values()]
                wire.send_json({"object": "list", "data": listed, "has_more": False})
            case ("GET", "batches", name) if name in self.batches:
                wire.send_json(self._shown(self.batches[name]))
            case _:
                wire.send_json({"error": {"message": "no such object"}}, 404)

    def _upload(self, request: Request, wire: Wire) -> None:
        content = uploaded(request)
        if content is None:
            wire.send_json({"error": {"message": "no file in this request"}}, 400)
            return
        name = self._store(content)
        about = {"object": "file", "filename": "batch.jsonl", "purpose": "batch"}
        about |= {"bytes": len(content), "created_at": int(time.time()), "status": "processed"}
        wire.send_json({"id": name} | about)

    def _create(self, request: Request, wire: Wire) -> None:
        asked = json.loads(request.body)
        if asked.get("input_file_id") not in self.files:
            wire.send_json({"error": {"message": "no such file"}}, 400)
            return
        batch = Batch(
            id=f"batch_{uuid.uuid4().hex}",
            input_file_id=asked["input_file_id"],
            endpoint=asked["endpoint"],
            metadata=asked.get("metadata") or {},
            created_at=time.time(),
        )
        self.batches[batch.id] = batch
        wire.send_json(self._shown(batch))

    def _store(self, content: bytes) -> str:
        name = f"file-{uuid.uuid4().hex}"
        self.files[name] = content
        return name

    def _shown(self, batch: Batch) -> dict[str, Any]:
        if batch.status == "in_progress" and self._is_due(batch):
            self._end(batch)
        files = ("input_file_id", "output_file_id", "error_file_id")
        fields = ("id", "endpoint", "status", "metadata", *files)
        return {name: getattr(batch, name) for name in fields} | {
            "object": "batch",
            "completion_window": "24h",
            "created_at": int(batch.created_at),
            "expires_at": int(batch.created_at + WINDOW),
            "request_counts": batch.counts or dict.fromkeys(("total", "completed", "failed"), 0),
        }

    def _is_due(self, batch: Batch) -> bool:
        return time.time() - batch.created_at >= self._conduct.batch_seconds

    def _end(self, batch: Batch) -> None:
        lines = [json.loads(line) for line in self.files[batch.input_file_id].splitlines() if line]
        wanted = int(len(lines) * (1 - self._conduct.batch_unfinished))
        good, bad = [], []
        for line in lines[:wanted]:
            status, body = self._complete(line["body"])
            response = {"status_code": status, "request_id": uuid.uuid4().hex, "body": body}
            result = {"id": f"r-{uuid.uuid4().hex}", "custom_id": line["custom_id"]}
            (good if status == 200 else bad).append(result | {"response": response, "error": None})
        for line in lines[wanted:]:
            error = {"code": "batch_expired", "message": "not done in time"}
            bad.append({"custom_id": line["custom_id"], "response": None, "error": error})
        batch.status = "completed" if wanted == len(lines) else "expired"
        batch.output_file_id = self._store(jsonl(reversed(good))) if good else None
        batch.error_file_id = self._store(jsonl(bad)) if bad else None
        batch.counts = {"total": len(lines), "completed": len(good), "failed": len(bad)}


def jsonl(documents: Any) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def uploaded(request: Request) -> bytes | None:
    """The part named ``file`` of a multipart body."""
    found = re.search(r'boundary="?([^";]+)', request.headers.get("content-type", ""))
    if not found:
        return None
    for part in request.body.split(b"--" + found.group(1).encode()):
        about, _, content = part.partition(b"\r\n\r\n")
        if b'name="file"' in about:
            return content.removesuffix(b"\r\n")
    return None
