"""Tables for papers: LaTeX with booktabs, every text escaped."""

import re
from collections.abc import Iterable, Sequence

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
    return _SPECIAL.sub(lambda found: _TABLE[found.group()], _CONTROL.sub(" ", text))


def label_of(name: str) -> str:
    """A name as labels may have it: letters, digits and hyphens."""
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
