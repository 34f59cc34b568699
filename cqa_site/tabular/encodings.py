"""Text decoding that names the byte it stumbles over.

The whole file is decoded once, in pieces, before anything reads it, so that a
wrong encoding is one message with a byte offset and a line, not a wrong letter
somewhere in the middle of an import.
"""

import codecs
import io
from typing import BinaryIO, TextIO

from .shapes import Limits, UnreadableFile

ACCEPTED = (
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "latin-1",
    "cp1250",
    "cp1251",
    "cp1252",
)
_PIECE = 1024 * 1024
_HEAD = 4096


def choose_encoding(head: bytes, name: str, asked: str | None) -> str:
    """The asked encoding, or what the byte order mark says, or UTF-8.

    Raises
    ------
    UnreadableFile
        For an encoding outside `ACCEPTED`, UTF-32, or zero bytes that give
        away UTF-16 without a mark or a binary file.
    """
    if asked is not None:
        return _accepted(asked, name)
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise UnreadableFile(name, "is UTF-32 text; save it as UTF-8")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    _refuse_zero_bytes(head[:_HEAD], name)
    return "utf-8"


def _accepted(asked: str, name: str) -> str:
    try:
        encoding = codecs.lookup(asked).name
    except (LookupError, ValueError):
        encoding = ""
    known = {codecs.lookup(each).name: each for each in ACCEPTED}
    if encoding == "utf-8" or encoding == "utf-8-sig":
        return "utf-8-sig"
    if encoding not in known:
        raise UnreadableFile(name, f"cannot be read as {asked!a}; choose {', '.join(ACCEPTED)}")
    return known[encoding]


def _refuse_zero_bytes(head: bytes, name: str) -> None:
    even, odd = head[0::2].count(0), head[1::2].count(0)
    most = max(len(head) // 8, 1)
    if odd > most and even == 0:
        raise UnreadableFile(name, _utf16_reason("utf-16-le"))
    if even > most and odd == 0:
        raise UnreadableFile(name, _utf16_reason("utf-16-be"))


def _utf16_reason(encoding: str) -> str:
    return (
        "looks like UTF-16 text without a byte order mark; "
        f"choose the encoding {encoding} or save it as UTF-8"
    )


def open_text(file: BinaryIO, *, name: str, asked: str | None, limits: Limits) -> TextIO:
    """A text stream over `file`, already known to decode from end to end.

    Line ends are kept as they are in the file. The encoding is the stream's
    `encoding` attribute.
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
            raise UnreadableFile(name, _bad_byte(error, where, encoding), row=line) from None
        if "\x00" in text:
            before = text[: text.index("\x00")]
            where = offset - len(held) + len(before.encode(encoding.removesuffix("-sig")))
            line += before.count("\n")
            raise UnreadableFile(name, f"NUL byte near offset {where}", row=line)
        if not piece:
            return
        offset += len(piece)
        line += text.count("\n")


def _bad_byte(error: UnicodeDecodeError, where: int, encoding: str) -> str:
    shown = encoding.removesuffix("-sig").upper()
    byte = error.object[error.start]
    advice = "save the file as UTF-8"
    if shown == "UTF-8" and byte >= 0x80:
        advice += ", or choose its encoding (often latin-1 or cp1252)"
    return f"byte 0x{byte:02X} at offset {where} is not {shown} text; {advice}"
