"""Invented files of every kind that can be imported."""

import csv
import io
import json
from pathlib import Path

from openpyxl import Workbook

from cqa_site.files.actions.imports import ImportOutcome, import_path

WORK = ("link", "task_id", "assignment_id", "worker_id", "status", "started")
TOLOKA_COLUMNS = ("INPUT:input", "OUTPUT:R-4", "GOLDEN:R-4", "HINT:text", "HINT:default_language")
TOLOKA_COLUMNS += tuple(f"ASSIGNMENT:{name}" for name in WORK)


def crowd_row(
    task: str = "t1",
    worker: str = "w1",
    label: object = 2,
    *,
    suite: str = "",
    text: str = "Tea is better than coffee.",
    pair: tuple[str, str] = ("tea", "coffee"),
    golden: object = "",
    status: str = "APPROVED",
) -> list[object]:
    """One row of a pool's export."""
    shown = f"**{pair[0]}** vs **{pair[1]}**\r\n\r\n*Rate the sentence:*\r\n\r\n{text}"
    tail = ("", "", "", task, suite or f"s-{worker}", worker, status, "2024-02-04T19:13:23.631")
    return [shown, label, golden, *tail]


def crowd_file(folder: Path, *rows: list[object], name: str = "pool.tsv") -> Path:
    """A pool's export."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\r\n")
    writer.writerows([TOLOKA_COLUMNS, *rows])
    path = folder / name
    path.write_bytes(text.getvalue().encode())
    return path


def table_file(folder: Path, *rows: dict[str, object], name: str = "table.csv") -> Path:
    """A CSV with the keys of the first row as header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path = folder / name
    path.write_text(text.getvalue(), newline="")
    return path


def json_file(folder: Path, content: object, name: str = "file.json") -> Path:
    """Any JSON."""
    path = folder / name
    path.write_text(json.dumps(content))
    return path


def expert_file(folder: Path, sheets: dict[str, list[list[object]]]) -> Path:
    """A workbook; each sheet is given as its rows, header first."""
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    path = folder / "experts.xlsx"
    book.save(path)
    return path


BATCH = ["comparison", "arguments", "relevance"]
CONTROL = ["comparison", "arguments", *["relevance"] * 2, "var", "mean", "(supposed) relevance"]


HOW = ("actor", "leave_out_rejected", "update_changed")


def take(study, kind: str, path: Path, *, write: bool = True, **asked) -> ImportOutcome:
    """Import a file, or with write=False look at it; what ``HOW`` does not name is an option."""
    how = {name: asked.pop(name) for name in HOW if name in asked}
    return import_path(
        study=study, kind=kind, path=path, name=path.name, options=asked, write=write, **how
    )


def reasons(outcome: ImportOutcome, *, rejected: bool = True) -> list[str]:
    """Why rows are rejected, or what else is said of rows."""
    return [flag.reason for flag in outcome.flags if flag.is_rejection == rejected]


def numbers(outcome: ImportOutcome, name: str) -> tuple[int, ...]:
    """New, same, changed and rejected objects of one kind."""
    return tuple(outcome.counts[name].values())
