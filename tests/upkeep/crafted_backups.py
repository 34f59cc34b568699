"""Some five hundred backups that no site wrote, each a small change of a real one."""

import stat
import struct
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from .backup_drafts import (
    FILE,
    KEYS,
    MANIFEST,
    NESTED,
    STUDIES,
    Case,
    Change,
    Draft,
    summed,
    told,
    zipped,
)
from .crafted_rows import other_keys, other_rows, other_values

HUGE = 10 * 2**30
# An entry of the directory has its name behind so many bytes; where its fields begin.
DIRECTORY_HEAD = 46
FLAGS, METHOD, SUM, SIZE, OFFSET = 8, 10, 16, 24, 42


def all_cases() -> dict[str, tuple[Change, str]]:
    """Changes by name, each with words of the refusal; those of sealed keys begin with "keys"."""
    makers = (
        *(cut_files, changed_directories, other_entries, other_manifests, other_fields),
        *(other_parts, other_tables, other_names, other_values, other_rows, other_keys),
    )
    return {name: (change, words) for make in makers for name, change, words in make()}


def cut_files() -> Iterator[Case]:
    for twelfth in range(1, 12):
        yield (
            f"cut after {twelfth}/12",
            lambda draft, part=twelfth: draft.written()[: len(draft.written()) * part // 12],
            "directory at its end",
        )
    yield "empty", lambda draft: b"", "directory at its end"
    yield "no zip", lambda draft: b"no backup" * 99, "directory at its end"
    yield "a byte less", lambda draft: draft.written()[:-1], "damaged"
    yield "a byte more", lambda draft: draft.written() + b"x", "between its parts"
    yield "bytes before", lambda draft: b"x" * 99 + draft.written(), "between its parts"
    yield "a wrong sum", lambda draft: draft.written()[:-1] + b"z", "between its parts"


def changed_directories() -> Iterator[Case]:
    for name in (STUDIES, FILE, MANIFEST):
        yield f"encrypted {name}", in_directory(name, FLAGS, "<H", 1), name
        yield f"method 99 of {name}", in_directory(name, METHOD, "<H", 99), name
        yield f"lzma that is none, of {name}", in_directory(name, METHOD, "<H", 14), name
        yield f"bzip2 that is none, of {name}", in_directory(name, METHOD, "<H", 12), name
        yield f"wrong sum of {name}", in_directory(name, SUM, "<I", 5), name
        yield f"offset of {name}", in_directory(name, OFFSET, "<I", 2**32 - 2), name
        yield f"offset in another, of {name}", in_directory(name, OFFSET, "<I", 0), name
        yield f"small {name}", in_directory(name, SIZE, "<I", 1), name
    for name in (STUDIES, FILE):
        yield f"4 GiB of {name} in the directory", in_directory(name, SIZE, "<I", 2**32 - 2), name
        yield f"10 GiB of {name} in the manifest", told(name, "bytes", HUGE), name
    for name in ("LZMA", "BZIP2"):
        method = getattr(zipfile, f"ZIP_{name}")
        yield f"all by {name}", lambda draft, method=method: vars(draft).update(method=method), ""


def in_directory(name: str, field: int, kind: str, value: int) -> Change:
    def change(draft: Draft) -> bytes:
        content = bytearray(draft.written())
        at = content.rindex(name.encode()) - DIRECTORY_HEAD
        struct.pack_into(kind, content, at + field, value)
        return summed(bytes(content))

    return change


def other_entries() -> Iterator[Case]:
    for name in (STUDIES, FILE, KEYS):
        yield f"{name} twice", lambda draft, name=name: twice(draft, name), name
        yield f"without {name}", lambda draft, name=name: draft.remove(name), name
    yield "manifest twice", lambda draft: draft.entries.append((MANIFEST, b"{}")), MANIFEST
    for name in ("../x", "/etc/x", "x/", "files/files/more", "a" * 300, "tables/../x"):
        yield (
            f"an entry {name[:20]}",
            lambda draft, name=name: draft.entries.append((name, b"x")),
            name[:50],
        )
    yield "a link to nowhere", with_mode("files/files/link", stat.S_IFLNK | 0o777, b"/etc"), "link"
    yield "a file as a link", with_mode(FILE, stat.S_IFLNK | 0o777, None), FILE
    yield "a file as a device", with_mode(FILE, stat.S_IFCHR | 0o600, None), FILE


def twice(draft: Draft, name: str) -> None:
    draft.entries.append((name, draft.content(name)))


def with_mode(name: str, mode: int, content: bytes | None) -> Change:
    def change(draft: Draft) -> None:
        draft.modes[name] = mode
        if content is not None:
            draft.add_file(name, content)

    return change


MANIFESTS = {
    "empty": b"", "cut": b'{"format": 1', "list": b"[]", "null": b"null", "number": b"5",
    "text": b'"x"', "nested": NESTED.encode(), "nested objects": b'{"format":' * 50_000,
    "no text": b"\xff\xfe\xfd", "5,000 digits": b'{"format": ' + b"9" * 5_000 + b"}",
    "nothing but a format": b'{"format": 1, "version": "0.1.0"}',
}  # fmt: skip


def other_manifests() -> Iterator[Case]:
    for name, content in MANIFESTS.items():
        yield (
            f"manifest: {name}",
            lambda draft, content=content: zipped([*draft.entries, (MANIFEST, content)], draft),
            MANIFEST if name != "5,000 digits" else "",
        )
    yield "a field more", lambda draft: draft.manifest.update(more=1), MANIFEST


BAD: tuple[Any, ...] = (
    *(None, 5, 1.5, "x", [], {}, [None], [["a", 5]], [["a"]], ["\ud800"], "\ud800"),
)
# What a field may hold, or what another text says as well.
GOOD = {"files": ([],), "tables": (), "migrations": ([],), "vanished": ([],), "left_out": ([],)}


FIELDS = (
    *("format", "version", "made_at", "engine", "migrations", "tables", "files", "keys"),
    *("vanished", "left_out"),
)
INSTEAD = (
    *(("version", each) for each in ("99.0", "9" * 10_000, "0.1.0\x1b[2J")),
    *(("format", each) for each in (2, 10**30)),
    *(("migrations", [each]) for each in (["runs", "9999_later"], ["nobody", "0001_initial"])),
    *(("files", []), ("keys", None)),
)


def other_fields() -> Iterator[Case]:
    for name in FIELDS:
        for value in BAD:
            if value not in GOOD.get(name, ()) and (name, value) != ("keys", None):
                yield f"{name} is {value!r}", field_of(name, value), ""
    for name in FIELDS[:-2]:
        yield f"without {name}", lambda draft, name=name: draft.manifest.pop(name), ""
    for name, value in INSTEAD:
        yield f"{name} is {str(value)[:20]} instead", field_of(name, value), ""


def field_of(name: str, value: Any) -> Change:
    return lambda draft: draft.manifest.update({name: deepcopy(value)})


def other_parts() -> Iterator[Case]:
    values: tuple[Any, ...] = (None, -1, 10**30, "", "x", [], 1.5)
    for part in (STUDIES, FILE, KEYS):
        for field in ("name", "bytes", "sha256"):
            for value in values:
                yield f"{field} of {part} is {value!r}", told(part, field, value), ""
        yield f"{part} has a field more", told(part, "more", 1), ""
        yield f"{part} has no sum", lambda draft, part=part: draft.part(part).pop("sha256"), ""
    for field in ("rows", "content", "table"):
        for value in values:
            yield f"{field} of {STUDIES} is {value!r}", told(STUDIES, field, value), ""


def other_tables() -> Iterator[Case]:
    for field in ("name", "key", "columns"):
        for value in (None, 5, "", "sqlite_master", [], [None], [{}]):
            yield f"{field} of a table is {value!r}", in_table(field, value), ""
    for field in ("name", "kind", "places"):
        for value in (None, 5, "x", []):
            yield f"{field} of a column is {value!r}", in_column(field, value), ""
    # Names never become SQL.
    program = in_table("name", "people_user\" FROM PROGRAM 'id' --")
    yield "a table that is a program", program, "FROM PROGRAM"
    yield "a column that is a row", in_column("name", 'id") VALUES (1) --'), "people_study"
    yield "a table twice", lambda draft: table_twice(draft), ""
    yield "a table less", lambda draft: table_less(draft), "people_study"
    yield (
        "a column less",
        lambda draft: draft.part(STUDIES)["table"]["columns"].pop(),
        "people_stud",
    )


def in_table(field: str, value: Any) -> Change:
    return lambda draft: draft.part(STUDIES)["table"].update({field: deepcopy(value)})


def in_column(field: str, value: Any) -> Change:
    return lambda draft: draft.part(STUDIES)["table"]["columns"][1].update({field: value})


def table_twice(draft: Draft) -> None:
    draft.manifest["tables"].append(deepcopy(draft.part(STUDIES)))


def table_less(draft: Draft) -> None:
    draft.manifest["tables"].remove(draft.part(STUDIES))
    draft.remove(STUDIES)


ODD_NAMES = (
    *("/x", "", "files/", "files", "../x", "files/../x", "files/files/../../x", "files/files/.."),
    *("files//files/x", "files/files/", "files/files", "files/files/./x", "files/files/x/"),
    *("files//etc/x", "tables/x", "FILES/files/x", "\\x"),
    # A folder that is not kept, the key of the site, the mark of a restore, and the database.
    *("files/scores/x", "files/secret_key", "files/restoring", "files/site.sqlite3"),
    # Long and deep ones.
    *("files/files/" + "a/" * count + "x" for count in (900, 2_000, 15_000)),
)


def other_names() -> Iterator[Case]:
    for name in ODD_NAMES:
        title = f"name: {name[:30]} of {len(name)} letters"
        yield title, lambda draft, name=name: draft.add_file(name), name[:40]
    for name, words in (
        ("files/files/" + "a" * 300, "File name too long"),
        (f"{FILE}/x", "File exists"),
        ("files/files/imports", "File exists"),
    ):
        yield f"name: {name[:30]}", lambda draft, name=name: draft.add_file(name), words
    yield "name: NUL", with_nul, "files/files/a"
    manifest = {"name": MANIFEST, "bytes": 1, "sha256": ""}
    yield "a file of the manifest's name", lambda draft: and_file(draft, manifest), MANIFEST
    yield (
        "a file that is a table",
        lambda draft: and_file(draft, draft.part(STUDIES)),
        "people_stud",
    )


def and_file(draft: Draft, part: dict) -> None:
    kept = {key: part[key] for key in ("name", "bytes", "sha256")}
    draft.manifest["files"].append(kept)


def with_nul(draft: Draft) -> bytes:
    """What zipfile would not write: it ends a name there."""
    draft.add_file("files/files/a~b")
    draft.manifest["files"][-1]["name"] = "files/files/a\0b"
    return summed(draft.written().replace(b"files/files/a~b", b"files/files/a\0b"))
