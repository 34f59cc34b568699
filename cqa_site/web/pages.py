"""Parts of every page: headers, errors, downloads, choices, glossary, context, small tables."""

import io
import re
from collections.abc import Callable, ItemsView, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import IO, Any, TypeVar

from django.conf import settings
from django.forms import BaseForm, ChoiceField, ModelChoiceField
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.text import slugify
from django.views.debug import SafeExceptionReporterFilter
from django.views.defaults import page_not_found

from cqa_site.tabular import write_csv


class NotThere(LookupError):
    """The named object does not exist, or no longer; the message is for people."""


class Middleware:
    """Base class of middleware around every page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response


class NotFound(Middleware):
    """Middleware that returns 404 on pages; the API has its own, `cqa_site.web.rest.problems`."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the page that reports the missing object and the reason."""
        if not isinstance(error, NotThere):
            return None
        vars(request).update(not_there=str(error))
        return page_not_found(request, error)


class NoValues(SafeExceptionReporterFilter):
    """A filter that keeps variables and form fields out of error pages.

    Django hides what is marked as sensitive, and only without DEBUG. An API key passes through
    frames of forms and libraries that nobody can mark, and error pages get copied into issues.
    """

    def is_active(self, request: HttpRequest | None) -> bool:
        """Hide marked values even with DEBUG."""
        return True

    def get_traceback_frame_variables(
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> ItemsView[str, Any]:
        none: dict[str, Any] = {}
        return none.items()

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, str]:
        """Return the names of the sent fields, without their values."""
        return dict.fromkeys(getattr(request, "POST", ()), self.cleansed_substitute)


# What every answer of the site has in common: its headers, and a connection that goes on.


PERMISSIONS_POLICY = "camera=(), microphone=(), geolocation=(), payment=()"

MOST_READ, PIECE = 1024 * 1024, 64 * 1024


class UnreadBodies(Middleware):
    """Middleware that reads the unread rest of a body, or closes the connection after the reply.

    The web server drops a connection with an unread body without a word, and the next request on
    it is lost.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, with ``Connection: close`` if more than 1 MiB was left unread."""
        response = self.get_response(request)
        # Other servers would wait for bytes that never come; Django's own reads bodies itself.
        if request.META.get("wsgi.input_terminated") and not _read_rest(
            request.META["wsgi.input"]
        ):
            response.headers["Connection"] = "close"
        return response


def _read_rest(body: IO[bytes]) -> bool:
    """Read the rest of the body; return whether it ends within the limit."""
    return any(not body.read(PIECE) for _piece in range(MOST_READ // PIECE + 1))


class PrivateResponses(Middleware):
    """Middleware that keeps private pages out of caches and switches browser features off."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the headers; a view that set its own Cache-Control keeps it."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        patch_vary_headers(response, ["Cookie", "HX-Request"])
        return response


def wants_json(request: HttpRequest) -> bool:
    """Whether a script made the request; a form without script expects a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


Sent = TypeVar("Sent", bound=HttpResponseBase)


def attachment(path: Path, *, name: str, content_type: str) -> FileResponse:
    """Stream a file to save as ``name`` (RFC 6266).

    Browsers may neither run it nor guess its type.
    """
    return guarded(
        FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type=content_type)
    )


def guarded(response: Sent) -> Sent:
    """Keep browsers from running the response or guessing its type."""
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


def as_file(content: str | bytes, *, name: str, content_type: str) -> HttpResponse:
    """Return content as a file to save as ``name``."""
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def offer(form: BaseForm, **offered: Any) -> None:
    """Set the choices of fields: rows, or pairs of a value and its label."""
    for name, among in offered.items():
        match form.fields[name]:
            case ModelChoiceField() as field:
                field.queryset = among
            case ChoiceField() as field:
                field.choices = among
            case _:
                raise TypeError(f"{name} is no field to choose in")


# The glossary: words with the sentence that `docs/glossary.md` has for each.
#
# A word is known by its name there, or by one of several in a row (*run, call, attempt*).


ROW = re.compile(r"^\| (?!term \|)(.+?) \| (.+) \|$", re.M)
# What makes Markdown of plain text.
MARKS = re.compile(r"[*`]")


@dataclass(frozen=True)
class TermMeaning:
    """A glossary row: its term or terms, their meaning, and the row's anchor on the page."""

    words: str
    text: str
    anchor: str


@cache
def glossary() -> dict[str, TermMeaning]:
    """Return every term with its meaning, read once per process."""
    text = (settings.BASE_DIR / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = [
        TermMeaning(head, MARKS.sub("", meaning), slugify(head))
        for head, meaning in ROW.findall(text)
    ]
    return {word: row for row in rows for word in {row.words, *row.words.split(", ")}}


def site(request: HttpRequest) -> dict[str, object]:
    """Return the product name and ``SETTLE_MS``."""
    return {
        "site_name": "Counterpoint",
        "settle_ms": settings.SETTLE_MS,
    }


# Small tables as text, Markdown and LaTeX.


ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    # At the start of a row LaTeX would read brackets and stars as arguments of \\.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "−": r"\ensuremath{-}",
    "–": "--",
    "—": "---",
    "±": r"\ensuremath{\pm}",
    "†": r"\ensuremath{\dagger}",
    "‡": r"\ensuremath{\ddagger}",
    "≥": r"\ensuremath{\geq}",
    "≤": r"\ensuremath{\leq}",
    "×": r"\ensuremath{\times}",
    "·": r"\textperiodcentered{}",
    "α": r"\ensuremath{\alpha}",
    "κ": r"\ensuremath{\kappa}",
    "“": "``",
    "”": "''",
    "’": "'",
    "…": r"\ldots{}",
}
# Fonts join two hyphens to a dash and two apostrophes to a quotation mark.
JOINED = {"-": "-{}", "'": "'{}"}
_SPECIAL = re.compile("|".join(re.escape(char) for char in ESCAPES) + "|-(?=-)|'(?=')")
_TABLE = ESCAPES | JOINED
# C0 and C1 controls, line and paragraph separators: TeX knows none of them.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def escape(text: str) -> str:
    r"""Make any text printable in LaTeX's text mode, on one line.

    Examples
    --------
    >>> escape("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return _SPECIAL.sub(lambda match: _TABLE[match.group()], _CONTROL.sub(" ", text))


def label_of(name: str) -> str:
    """Replace all but letters, digits and hyphens, for use as a LaTeX label."""
    return re.sub("[^A-Za-z0-9-]", "-", name)


def booktabs(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numeric: Sequence[bool],
    caption: str,
    label: str,
    note: str = "",
) -> str:
    """Write a table environment; texts are escaped here, numbers come as text.

    Parameters
    ----------
    columns, rows
        Headings, and cells in their order.
    numeric
        For each column whether it is set flush right.
    caption
        Set above the table.
    label
        Used in ``\\label{tab:…}``; only letters, digits and hyphens are kept.
    note
        Set small below the table.
    """
    align = "".join("r" if is_number else "l" for is_number in numeric)
    lines = [
        "% needs \\usepackage{booktabs}; with pdfLaTeX also \\usepackage[T1]{fontenc}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{escape(caption)}}}",
        f"\\label{{tab:{label_of(label)}}}",
        f"\\begin{{tabular}}{{{align}}}",
        "\\toprule",
        _row(columns),
        "\\midrule",
        *(_row(row) for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
        *([f"\\par\\smallskip{{\\footnotesize {escape(note)}}}"] if note else []),
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"


# One small table, and the three forms in which people take it away.


Cell = str | int | float | None
UNDEFINED = "n/a"
DECIMALS = 3


@dataclass(frozen=True)
class TableData:
    """A table that fits on a page.

    Attributes
    ----------
    columns
        Headings.
    rows
        Cells in the order of the columns; None is a value that is not defined.
    caption
        The content of the table and its source.
    note
        How the numbers were made.
    name
        For file names and labels: letters, digits, hyphens.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    note: str = ""
    name: str = "table"
    numeric: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("every row has one cell for each column")
        numeric = [_is_numeric([row[at] for row in self.rows]) for at in range(len(self.columns))]
        object.__setattr__(self, "numeric", numeric)

    def to_csv(self) -> bytes:
        """Return UTF-8 with full precision.

        Formulas are defused, caption and note are left out.
        """
        file = io.BytesIO()
        write_csv(file, self.columns, self.rows)
        return file.getvalue()

    def to_latex(self) -> str:
        """Return a table environment with booktabs rules, caption, label and note."""
        return booktabs(
            self.columns,
            [[text_of(cell) for cell in row] for row in self.rows],
            numeric=self.numeric,
            caption=self.caption,
            label=self.name,
            note=self.note,
        )

    def to_markdown(self) -> str:
        """Return a pipe table between its caption and its note."""
        rules = ["---:" if is_number else "---" for is_number in self.numeric]
        lines = [
            _pipes([markdown_text(column) for column in self.columns]),
            _pipes(rules),
            *(_pipes([markdown_text(text_of(cell)) for cell in row]) for row in self.rows),
        ]
        parts = [markdown_text(self.caption), "\n".join(lines), markdown_text(self.note)]
        return "\n\n".join(part for part in parts if part) + "\n"


def one_line(text: Any) -> str:
    """Join the paragraphs of a text into one line, for a note below a table."""
    return " ".join(str(text).split())


def text_of(cell: Cell, decimals: int = DECIMALS) -> str:
    """Format a cell: thousands separators, floats rounded, halves away from zero."""
    if cell is None:
        return UNDEFINED
    if isinstance(cell, float):
        # Of a minus sign without a digit behind it nobody knows what it means. A half counts as
        # one where it is inexact, too: 100 * 0.145 lies below 14.5.
        return f"{cell * (1 + 1e-14):z,.{decimals}f}".replace("-", "−")
    return f"{cell:,}" if isinstance(cell, int) else cell


def interval_text(
    estimate: Any, decimals: int = DECIMALS, scale: float = 1.0, unit: str = ""
) -> str:
    """Format both bounds of an estimate in brackets; empty without an interval."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    low, high = (text_of(float(scale * end), decimals) for end in (estimate.low, estimate.high))
    return f"[{low}{unit}, {high}{unit}]"


def estimate_text(estimate: Any, decimals: int = 2, scale: float = 1.0) -> str:
    """Format a value with its interval; a dash if the value is undefined."""
    if estimate is None or estimate.value is None:
        return "–"
    value = text_of(float(scale * estimate.value), decimals)
    return f"{value} {interval_text(estimate, decimals, scale)}".rstrip()


def _is_numeric(cells: Sequence[Cell]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(isinstance(cell, (int, float)) for cell in known)


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def markdown_text(text: str) -> str:
    """Escape characters Markdown or HTML would interpret; a cell stays on one line."""
    plain = " ".join(text.split())
    for char in "\\`*_[]<>|#~$":
        plain = plain.replace(char, "\\" + char)
    return plain
