"""A backup taken apart, changed and put together again, with every sum that is still possible.

So a crafted backup reaches what reads the change.
"""

import hashlib
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from cqa_site.upkeep.backups import archive
from cqa_site.upkeep.backups.tables import BackupColumn, BackupTable, Contents

MANIFEST, KEYS = archive.MANIFEST, archive.KEYS
STUDIES, FILE = "tables/people_study.jsonl", "files/files/imports/one"
NESTED = "[" * 100_000


class Draft:
    """A backup taken apart: its manifest, and its other entries in order."""

    def __init__(self, manifest: dict, entries: list[tuple[str, bytes]]) -> None:
        self.manifest, self.entries = manifest, entries
        self.modes: dict[str, int] = {}
        self.method = zipfile.ZIP_DEFLATED

    @classmethod
    def of(cls, path: Path) -> "Draft":
        with zipfile.ZipFile(path) as read:
            entries = [(name, read.read(name)) for name in read.namelist()]
        return cls(json.loads(dict(entries)[MANIFEST]), entries[:-1])

    def copy(self) -> "Draft":
        return Draft(deepcopy(self.manifest), list(self.entries))

    @property
    def parts(self) -> list[dict]:
        keys = [self.manifest["keys"]] if self.manifest["keys"] else []
        return [*self.manifest["tables"], *self.manifest["files"], *keys]

    def part(self, name: str) -> dict:
        return next(part for part in self.parts if part["name"] == name)

    def content(self, name: str) -> bytes:
        return dict(self.entries)[name]

    def put(self, name: str, content: bytes) -> None:
        """Another content of a part, with its size and sums in the manifest."""
        self.entries = [(each, content if each == name else old) for each, old in self.entries]
        part = self.part(name)
        part |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        if "table" in part:
            part["rows"] = len(content.splitlines())
            part["content"] = content_sum(part["table"], content) or part["content"]

    def add_file(self, name: str, content: bytes = b"x") -> None:
        """A file with all that belongs to it; its name is not looked at."""
        told = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        self.entries.append((name, content))
        self.manifest["files"].append({"name": name, **told})

    def remove(self, name: str) -> None:
        self.entries = [(each, content) for each, content in self.entries if each != name]

    def written(self) -> bytes:
        return zipped([*self.entries, (MANIFEST, json.dumps(self.manifest).encode())], self)


def zipped(entries: list[tuple[str, bytes]], draft: Draft) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", draft.method) as target:
        warnings.simplefilter("ignore", UserWarning)
        target.comment = b"0" * archive.SUM_LENGTH
        for name, content in entries:
            about = zipfile.ZipInfo("x")
            about.filename, about.compress_type = name, draft.method
            about.external_attr = draft.modes.get(name, 0o600) << 16
            target.writestr(about, content)
    return summed(out.getvalue())


def summed(content: bytes) -> bytes:
    """The same bytes, with their sum at the end."""
    before = content[: -archive.SUM_LENGTH]
    return before + hashlib.sha256(before).hexdigest().encode()


def content_sum(table: dict, content: bytes) -> str | None:
    """What the product would say of these rows; None where it cannot."""
    columns = tuple(BackupColumn(**column) for column in table["columns"])
    contents = Contents(BackupTable(table["name"], table["key"], columns))
    try:
        for line in content.splitlines():
            contents.add(json.loads(line), line + b"\n")
    except Exception:  # noqa: BLE001  the case is what comes of that
        return None
    return contents.sha256


# A change returns the whole file where it is more than a draft can say.
Change = Callable[[Draft], Any]
Case = tuple[str, Change, str]


def crafted(draft: Draft, change: Change) -> bytes:
    """The file after a change of a copy."""
    changed = draft.copy()
    content = change(changed)
    return content if isinstance(content, bytes) else changed.written()


def told(part: str, field: str, value: Any) -> Change:
    return lambda draft: draft.part(part).update({field: deepcopy(value)})
