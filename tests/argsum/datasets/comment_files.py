"""Small invented files of comments, for the tests of their reader and import."""

import io

from openpyxl import Workbook

ASKED = "What do you think of the night bus?"
COMMENTS = (
    "The bus is late every night. The driver never says why.",
    "It is a good bus; I only wish that it came twice an hour",
    "n/a",
    "The driver never says why.",
)


def lines_of(*texts: str) -> bytes:
    """Plain text, a comment a line."""
    return "\n".join(texts).encode() + b"\n"


def sheet_of(columns, *rows) -> bytes:
    """A workbook of one sheet."""
    book = Workbook()
    book.active.append(columns)
    for row in rows:
        book.active.append(row)
    body = io.BytesIO()
    book.save(body)
    return body.getvalue()
