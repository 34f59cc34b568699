"""Text in spreadsheets: what looks like a formula, and what XML cannot hold."""

import re

# A leading mark that a spreadsheet program may take for a formula or command;
# the last four are the full-width forms some locales accept.
_RISKY = re.compile("^'*[=+\\-@|%\t\r\n\uff1d\uff0b\uff0d\uff20]")
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
# Everything outside XML's Char production, plus CR, which XML turns into LF,
# plus an underscore that would be read as the start of an escape.
_ESCAPED = re.compile(
    "[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)",
)


def spreadsheet_safe(value: object) -> object:
    """Put an apostrophe before text that a spreadsheet would run as a formula.

    Numbers stay numbers. Text that already has apostrophes before such a mark
    gets one more, so that `spreadsheet_unsafe` always restores the original.

    Examples
    --------
    >>> spreadsheet_safe("=1+1"), spreadsheet_safe(-1), spreadsheet_safe("'tis")
    ("'=1+1", -1, "'tis")
    """
    if isinstance(value, str) and _RISKY.match(value):
        return "'" + value
    return value


def spreadsheet_unsafe(value: object) -> object:
    """Undo `spreadsheet_safe`.

    Examples
    --------
    >>> spreadsheet_unsafe("'=1+1"), spreadsheet_unsafe("'tis")
    ('=1+1', "'tis")
    """
    if isinstance(value, str) and value.startswith("'") and _RISKY.match(value):
        return value[1:]
    return value


def to_sheet_text(text: str) -> str:
    """Escape what sheet XML cannot hold, as Office does: ``_x000D_`` for CR."""
    return _ESCAPED.sub(lambda found: f"_x{ord(found.group()):04X}_", text)


def from_sheet_text(text: str) -> str:
    """Undo `to_sheet_text`; raises UnicodeError if half a surrogate pair results."""
    if "_x" not in text:
        return text
    plain = _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
