"""Values, rows and sealed keys that no site wrote."""

import base64
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from cqa_site.upkeep.backups import files
from .backup_drafts import KEYS, NESTED, STUDIES, Case, Change, Draft
from .backup_sites import PASSPHRASE

ODD_DATES = (
    *("2020-13-45T00:00:00.000000Z", "99999-01-01T00:00:00.000000Z", "2020-01-01T00:00:00+99:99"),
)
ODD_JSON = (NESTED, "9" * 5_000, '"\ud800"', "\x00", "[1e9999999999]", "[1e" + "9" * 23 + "]")
VALUES: dict[tuple[str, str], tuple[Any, ...]] = {
    ("runs_budget", "cap_micro"): (1.5, True, "x", "", [], {}, 10**30, -(2**63)),
    ("people_user", "is_staff"): (5, "x", "", 1.5, [], {}, None),
    ("rounds_round", "skip_share"): (True, "x", "", [], {}, "1e999", float("nan"), 10**400),
    ("runs_endpoint", "price_in"): (
        *(5, 1.5, True, "x", "", [], {}, "1e999999999", "NaN", "Infinity"),
    ),
    ("people_study", "description"): (5, 1.5, True, [], {}, "\ud800", None),
    ("people_study", "archived_at"): (5, 1.5, True, "x", "", [], {}, *ODD_DATES),
    ("people_study", "public_id"): (5, True, "x", "", [], {}, None, "g" * 32),
    ("runs_endpoint", "key_ciphertext"): (5, True, "x", [], {}, "=", "\ud800"),
    ("runs_gate", "state"): (5, True, [], {}, "", "x", "{", *ODD_JSON),
    ("people_membership", "user_id"): (0, -1, 10**12, "x", None),
}


def other_values() -> Iterator[Case]:
    for (table, column), values in VALUES.items():
        for value in values:
            title = f"{table}.{column} is {str(value)[:40]!r} ({type(value).__name__})"
            yield title, with_value(table, column, value), ""


def with_value(table: str, column: str, value: Any) -> Change:
    def change(draft: Draft) -> None:
        name = f"tables/{table}.jsonl"
        columns = [each["name"] for each in draft.part(name)["table"]["columns"]]
        lines = draft.content(name).splitlines(keepends=True)
        row = json.loads(lines[0])
        row[columns.index(column)] = value
        draft.put(name, (json.dumps(row) + "\n").encode() + b"".join(lines[1:]))

    return change


ODD_LINES = {
    "an empty list": b"[]", "an object": b"{}", "null": b"null", "a number": b"5",
    "a text": b'"x"', "one value": b"[1]", "cut": b'[1, "x', "nested": NESTED.encode(),
    "nothing": b"", "no text": b"\xff\xfe", "5,000 digits": b"[" + b"9" * 5_000 + b"]",
}  # fmt: skip


def other_rows() -> Iterator[Case]:
    for table in ("people_study", "runs_gate"):
        name = f"tables/{table}.jsonl"
        for title, line in ODD_LINES.items():
            title = f"a row of {table} is {title}"
            yield title, lambda draft, name=name, line=line: draft.put(name, line + b"\n"), table
        yield f"a value more in {table}", in_lines(name, lambda line: line[:-2] + b",1]\n"), table
        yield f"a value less in {table}", in_lines(name, lambda line: b"[1]\n"), table
        yield f"a row of {table} twice", in_lines(name, lambda line: line * 2), table
        yield f"no end of {table}", in_lines(name, lambda line: line[:-1]), table
    yield "no study", in_lines(STUDIES, lambda line: b""), "study_id refers to a missing row"


def in_lines(name: str, change: Callable[[bytes], bytes]) -> Change:
    return lambda draft: draft.put(name, change(draft.content(name)))


def other_keys() -> Iterator[Case]:
    for content in (b"", b"[]", b"{", b"5", b"null", b"\xff", NESTED.encode(), b"{}"):
        title = f"keys are {content[:9]!r}"
        yield title, lambda draft, content=content: draft.put(KEYS, content), ""
    for field in ("kdf", "n", "r", "p", "cipher", "salt", "nonce", "sealed"):
        for value in (None, -1, "x", [], 2**70, 2**20 + 1):
            yield f"keys: {field} is {value!r}", in_keys(field, value), ""
        yield f"keys: without {field}", in_keys(field, ...), ""
    for value in (0, 1, 3, 1.5, True):
        yield f"keys: n is {value!r}", in_keys("n", value), ""
    yield "keys: short nonce", in_keys("nonce", base64.b64encode(b"x").decode()), ""
    for keys in ([], {}, 5, None, "x", {"SECRETS_KEYS": 5}, {"SECRETS_KEYS": [5]}):
        yield f"keys hold {keys!r}", sealed(json.dumps(keys).encode()), "keys"
    for content in (b'{"SECRETS_KEYS": ["x"]}', b'{"SECRETS_KEYS": "abc"}', b"x", NESTED.encode()):
        yield f"keys hold the text {content[:30]!r}", sealed(content), "keys"


def in_keys(field: str, value: Any) -> Change:
    def change(draft: Draft) -> None:
        told = json.loads(draft.content(KEYS))
        if value is ...:
            del told[field]
        else:
            told[field] = value
        draft.put(KEYS, json.dumps(told).encode())

    return change


def sealed(content: bytes) -> Change:
    """Keys sealed with the right passphrase, and no keys."""

    def change(draft: Draft) -> None:
        told = json.loads(draft.content(KEYS))
        told.pop("sealed")
        nonce = os.urandom(12)
        told["nonce"] = base64.b64encode(nonce).decode()
        box = files.AESGCM(files._derived(PASSPHRASE, told))
        told["sealed"] = base64.b64encode(box.encrypt(nonce, content, files._bound(told))).decode()
        draft.put(KEYS, json.dumps(told).encode())

    return change
