"""What a file is, from its first bytes, and whether its name says the same."""

import re
from pathlib import PurePosixPath

from .shapes import UnreadableFile

KINDS = ("csv", "tsv", "json", "jsonl", "xlsx")

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# The name inside an encrypted .xlsx, which is an OLE container and no ZIP file.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

_FOREIGN = (
    (b"\x7fELF", "an executable program"),
    (b"\xcf\xfa\xed\xfe", "an executable program"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"PK\x05\x06", "an empty ZIP archive"),
)
_FAMILY_OF_SUFFIX = {
    ".csv": "text",
    ".tsv": "text",
    ".tab": "text",
    ".txt": "text",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".xlsx": "xlsx",
}
_FAMILY_OF_KIND = {"csv": "text", "tsv": "text", "json": "json", "jsonl": "json", "xlsx": "xlsx"}
_JSON_START = re.compile(r"\s*(\[\s*[\[{\"\]\d]|\{\s*[\"}])")
_MARKUP_START = re.compile(r"\s*<(\?xml|!doctype|html|table)", re.IGNORECASE)


def binary_family(head: bytes, name: str) -> str:
    """'xlsx' for a ZIP file, 'text' for anything that may be text.

    Raises
    ------
    UnreadableFile
        For an empty file and for formats recognised by their first bytes.
    """
    if not head:
        raise UnreadableFile(name, "is empty")
    if head.startswith(_ZIP):
        return "xlsx"
    if head.startswith(_OLE):
        raise UnreadableFile(name, _ole_reason(head))
    if head.startswith(b"MZ") and b"\x00" in head:
        raise UnreadableFile(name, "is an executable program, not a table")
    for magic, words in _FOREIGN:
        if head.startswith(magic):
            raise UnreadableFile(name, f"is {words}, not a table")
    return "text"


def _ole_reason(head: bytes) -> str:
    if _ENCRYPTED in head:
        return "is an encrypted workbook; save it without a password"
    return "is an old .xls or an encrypted workbook; save it as .xlsx without a password"


def text_family(sample: str, name: str) -> str:
    """'json' or 'text', from the first characters."""
    if not sample.strip():
        raise UnreadableFile(name, "holds nothing but white space")
    if _MARKUP_START.match(sample):
        raise UnreadableFile(name, "is a web page or XML document, not a table")
    return "json" if _JSON_START.match(sample) else "text"


def json_kind(sample: str, name: str) -> str:
    """'jsonl' when each line is an object of its own, else 'json'."""
    if not sample.lstrip().startswith("{"):
        return "json"
    if _suffix(name) in (".jsonl", ".ndjson"):
        return "jsonl"
    lines = [line.strip() for line in sample.splitlines() if line.strip()]
    both = len(lines) > 1 and lines[0].endswith("}") and lines[1].startswith("{")
    return "jsonl" if both else "json"


def check_agrees(found: str, name: str, kind: str | None) -> None:
    """Refuse a file whose content is of another family than asked or named."""
    if kind is not None and kind not in KINDS:
        raise UnreadableFile(name, f"cannot be read as {kind!a}; choose {', '.join(KINDS)}")
    suffix = _suffix(name)
    if kind is not None:
        expected: str | None = _FAMILY_OF_KIND[kind]
        said = f"was to be read as {kind}"
    elif suffix:
        expected = _FAMILY_OF_SUFFIX.get(suffix)
        said = f"is named {suffix}"
    else:
        return
    if expected is None:
        raise UnreadableFile(name, f"{said}; only {', '.join(_FAMILY_OF_SUFFIX)} are read")
    if expected != found:
        raise UnreadableFile(name, f"{said} but holds {_WORDS[found]}")


_WORDS = {"text": "plain text", "json": "JSON", "xlsx": "a ZIP file (a workbook or an archive)"}


def _suffix(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).suffix.lower()
