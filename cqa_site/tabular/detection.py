"""Detection of a file's kind and of its text encoding."""

import codecs
import io
import json
import re
from pathlib import PurePosixPath
from typing import BinaryIO, TextIO

from .shapes import Limits, UnreadableFile

# Detection of a file's kind from its first bytes, and comparison with its name

KINDS = ("csv", "tsv", "json", "jsonl", "xlsx")

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A name inside an encrypted .xlsx file, which is an OLE container rather than a ZIP file.
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
    ".ods": "xlsx",
    ".xls": "xlsx",
}
_FAMILY_OF_KIND = {"csv": "text", "tsv": "text", "json": "json", "jsonl": "json", "xlsx": "xlsx"}
_JSON_START = re.compile(r"\s*(\[\s*[\[{\"\]\d]|\{\s*[\"}])")
_MARKUP_START = re.compile(r"\s*<(\?xml|!doctype|html|table)", re.IGNORECASE)


def binary_family(head: bytes, name: str) -> str:
    """Return 'xlsx' for a possible workbook, or 'text' for a file that may be text.

    Raises
    ------
    UnreadableFile
        For an empty file, and for other formats that the first bytes identify.
    """
    if not head:
        raise UnreadableFile(name, "is empty")
    if head.startswith(_ZIP):
        return "xlsx"
    if head.startswith(_OLE):
        if _ENCRYPTED in head:
            raise UnreadableFile(name, "is an encrypted workbook; save it without a password")
        return "xlsx"
    if head.startswith(b"MZ") and b"\x00" in head:
        raise UnreadableFile(name, "is an executable program, not a table")
    for magic, words in _FOREIGN:
        if head.startswith(magic):
            reason = f"is {words}, not a table; save the table as CSV, JSON Lines or XLSX"
            raise UnreadableFile(name, reason)
    return "text"


def text_family(sample: str, name: str) -> str:
    """Return 'json' or 'text', depending on the first characters."""
    if not sample.strip():
        raise UnreadableFile(name, "contains only white space")
    if _MARKUP_START.match(sample):
        raise UnreadableFile(name, "is a web page or XML document, not a table")
    return "json" if _JSON_START.match(sample) else "text"


def json_kind(sample: str, name: str) -> str:
    """Return 'jsonl' if each line is a separate object, else 'json'."""
    if not sample.lstrip().startswith("{"):
        return "json"
    if _suffix(name) in (".jsonl", ".ndjson"):
        return "jsonl"
    first, _end, rest = sample.strip().partition("\n")
    return "jsonl" if rest.strip() and _is_object(first) else "json"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def check_agrees(family: str, name: str, kind: str | None) -> None:
    """Reject a file whose content does not match the requested kind or its name."""
    if kind is not None and kind not in KINDS:
        raise UnreadableFile(name, f"cannot be read as {kind!a}; choose {', '.join(KINDS)}")
    suffix = _suffix(name)
    if kind is not None:
        expected: str | None = _FAMILY_OF_KIND[kind]
        claim = f"was to be read as {kind}"
    elif suffix:
        expected = _FAMILY_OF_SUFFIX.get(suffix)
        claim = f"is named {suffix}"
    else:
        return
    if expected is None:
        raise UnreadableFile(name, f"only files named {', '.join(_FAMILY_OF_SUFFIX)} can be read")
    if expected != family:
        raise UnreadableFile(name, f"{claim} but holds {_WORDS[family]}")


_WORDS = {"text": "plain text", "json": "JSON", "xlsx": "a ZIP file or a workbook"}


def _suffix(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).suffix.lower()


# Text decoding that reports the first invalid byte
#
# The whole file is decoded once, in pieces, before it is read, so that a wrong
# encoding causes a message with a byte offset and a line rather than a wrong
# letter in the middle of an import.

ACCEPTED = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1250", "cp1251", "cp1252")
_PIECE = 1024 * 1024
_HEAD = 4096
# Number of bytes to show on each side of an invalid byte.
_AROUND = 12
_RUN_OF_LETTERS = re.compile(rb"[\xb8\xc0-\xff]{3,}")


def choose_encoding(head: bytes, name: str, encoding: str | None) -> str:
    """Return the requested encoding, the one that the byte order mark indicates, or UTF-8.

    Raises
    ------
    UnreadableFile
        For an encoding outside `ACCEPTED`, for UTF-32, or for zero bytes, which
        indicate UTF-16 without a mark or a binary file.
    """
    if encoding is not None:
        return _accepted(encoding, name)
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise UnreadableFile(name, "is UTF-32 text; save it as UTF-8")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    _refuse_zero_bytes(head[:_HEAD], name)
    return "utf-8"


def _accepted(label: str, name: str) -> str:
    try:
        encoding = codecs.lookup(label).name
    except (LookupError, ValueError):
        encoding = ""
    known = {codecs.lookup(codec).name: codec for codec in ACCEPTED}
    if encoding == "utf-8" or encoding == "utf-8-sig":
        return "utf-8-sig"
    if encoding not in known:
        raise UnreadableFile(name, f"cannot be read as {label!a}; choose {', '.join(ACCEPTED)}")
    return known[encoding]


def _refuse_zero_bytes(head: bytes, name: str) -> None:
    even, odd = head[0::2].count(0), head[1::2].count(0)
    most = max(len(head) // 8, 1)
    if odd > most and even == 0:
        raise UnreadableFile(name, _utf16_reason("utf-16-le"), encoding="utf-16-le")
    if even > most and odd == 0:
        raise UnreadableFile(name, _utf16_reason("utf-16-be"), encoding="utf-16-be")


def _utf16_reason(encoding: str) -> str:
    return (
        "looks like UTF-16 text without a byte order mark; "
        f"choose the encoding {encoding} or save it as UTF-8"
    )


def open_text(file: BinaryIO, *, name: str, asked: str | None, limits: Limits) -> TextIO:
    """Open a text stream over `file`, after checking that all of it decodes.

    Line ends are not changed. The stream's `encoding` attribute gives the encoding.
    """
    size = file.seek(0, io.SEEK_END)
    if size > limits.text_bytes:
        raise UnreadableFile(name, f"is larger than {limits.text_bytes:,} bytes")
    file.seek(0)
    encoding = choose_encoding(file.read(_HEAD), name, asked)
    _check_decodes(file, name, encoding)
    file.seek(0)
    return io.TextIOWrapper(file, encoding=encoding, newline="")


def _check_decodes(file: BinaryIO, name: str, encoding: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    offset, line = 0, 1
    file.seek(0)
    while True:
        piece = file.read(_PIECE)
        held = decoder.getstate()[0]
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            where = offset - len(held) + error.start
            line += error.object[: error.start].count(b"\n")
            fitting = _fitting(error.object) if encoding.startswith("utf-8") else ""
            reason = _bad_byte(error, where, encoding, fitting)
            raise UnreadableFile(name, reason, row=line, encoding=fitting) from None
        if "\x00" in text:
            before = text[: text.index("\x00")]
            where = offset - len(held) + len(before.encode(encoding.removesuffix("-sig")))
            line += before.count("\n")
            reason = f"NUL byte near offset {where}, so this is not a text file"
            raise UnreadableFile(name, reason, row=line)
        if not piece:
            return
        offset += len(piece)
        line += text.count("\n")


def _bad_byte(error: UnicodeDecodeError, where: int, encoding: str, fitting: str) -> str:
    label = encoding.removesuffix("-sig").upper()
    byte = error.object[error.start]
    reason = f"byte 0x{byte:02X} at offset {where} is not {label} text; "
    if not fitting:
        return reason + "save the file as UTF-8"
    around = error.object[max(error.start - _AROUND, 0) : error.start + _AROUND]
    words = " ".join(around.decode(fitting, "replace").split())
    return reason + f"as {fitting} it reads “{words}”: choose that encoding or save it as UTF-8"


def _fitting(piece: bytes) -> str:
    """Guess the 8-bit encoding of non-UTF-8 text from its non-ASCII bytes.

    Cyrillic words are runs of such bytes. Windows encodes dashes and quotation marks as 0x80 to
    0x9F, where Latin-1 has no printable characters.
    """
    high = sum(byte > 0x7F for byte in piece)
    in_words = sum(len(run) for run in _RUN_OF_LETTERS.findall(piece))
    if in_words > high / 2:
        return "cp1251"
    try:
        piece.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"
