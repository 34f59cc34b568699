"""Small valid files of every format, and the same with one bad row."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import load_workbook

from cqa_site.files.actions.imports import ImportOutcome, import_path
from cqa_site.files.actions.recognition import guess
from cqa_site.files.formats import FORMATS
from cqa_site.files.models import ImportFile
from cqa_site.people.models import Study
from cqa_site.tabular import preview

Spoil = Callable[[bytes], bytes]


@dataclass(frozen=True)
class BadRow:
    """How the sample of a format is spoilt, and the row and column that the import must name."""

    spoil: Spoil
    row: int | None
    column: str


def cell(column: str, value: str, *, row: int = 2, delimiter: str = ",") -> Spoil:
    """Another value in one cell of a table; a column that is not there comes last."""

    def spoil(content: bytes) -> bytes:
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        heading, *rows = csv.reader(text, delimiter=delimiter)
        if column not in heading:
            heading.append(column)
            rows = [[*cells, str(number)] for number, cells in enumerate(rows)]
        rows[row - 2][heading.index(column)] = value
        changed = io.StringIO()
        csv.writer(changed, delimiter=delimiter).writerows([heading, *rows])
        return changed.getvalue().encode()

    return spoil


def put(*path: Any, value: Any) -> Spoil:
    """Another value somewhere in a JSON file."""

    def spoil(content: bytes) -> bytes:
        whole = place = json.loads(content)
        *before, last = path
        for key in before:
            place = place[key]
        place[last] = value
        return json.dumps(whole).encode()

    return spoil


def member(end: str, change: Spoil) -> Spoil:
    """Another content of one file in an archive."""

    def spoil(content: bytes) -> bytes:
        changed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(changed, "w") as new:
            for name in old.namelist():
                body = old.read(name)
                new.writestr(name, change(body) if name.startswith(end) else body)
        return changed.getvalue()

    return spoil


def sheet_cell(place: str, value: Any) -> Spoil:
    """Another value in one cell of a workbook."""

    def spoil(content: bytes) -> bytes:
        book, changed = load_workbook(io.BytesIO(content)), io.BytesIO()
        book.active[place] = value
        book.save(changed)
        return changed.getvalue()

    return spoil


LONG = "x" * 301
ELSEWHERE = {"1": {"(0.3,)": {"llm_coverage": 0.5, "runtime": 1.0}}}
BAD_ROWS = {
    "answers": BadRow(put(1, "comparison", value=" "), 2, "comparison"),
    "argkp": BadRow(member("labels", cell("arg_id", "a99")), 2, "labels_dev.csv · arg_id"),
    "argument_list": BadRow(cell("stance", "7"), 2, "stance"),
    "argument_pairs": BadRow(cell("label", "perhaps"), 2, "label"),
    "comments": BadRow(cell("id", LONG), 2, "id"),
    "count_sheets": BadRow(cell("n_covered", "many"), 2, "n_covered"),
    "expert_workbook": BadRow(sheet_cell("C3", 9), 3, "Batch 1"),
    "final_labels": BadRow(put(0, "arguments", 1, "relevance", value=9), 2, "relevance"),
    "gold": BadRow(put(0, "comparison", 0, value=" "), 1, "comparison · 1"),
    "human_scores": BadRow(cell("C1", "x", delimiter="\t"), 2, "C1"),
    "judged": BadRow(put(0, "comparison", value=" "), 1, "comparison"),
    "metric_scores": BadRow(put("scores", "Elsewhere", value=ELSEWHERE), None, "threshold=0.3"),
    "questions": BadRow(cell("object1", ""), 2, "object1"),
    "rated_arguments": BadRow(cell("WA", "7"), 2, "quality"),
    "score_sheets": BadRow(cell("C1", "2"), 2, "C1"),
    "silver": BadRow(put(0, "gpt_answers", 0, value=" "), 1, "gpt_answers · 1"),
    "survey": BadRow(cell("Respondent ID", "", row=3), 3, "Respondent ID"),
    "system_points": BadRow(cell("key_point", ""), 2, "key_point"),
    "table": BadRow(cell("object1", LONG), 2, "object1"),
    "toloka": BadRow(cell("OUTPUT:R-4", "9", delimiter="\t"), 2, "OUTPUT:R-4"),
}


def sample_of(kind: str) -> bytes:
    """A small valid file of a format."""
    return FORMATS[kind].sample.make()


def spoilt(kind: str) -> bytes:
    """The same with one bad row."""
    return BAD_ROWS[kind].spoil(sample_of(kind))


def options_of(study: Study, kind: str, path: Path) -> dict[str, Any]:
    """What a page would ask about a file, answered as it proposes."""
    made = FORMATS[kind]
    options = dict(made.sample.options)
    if made.is_mapped:
        file = ImportFile(study=study, kind=kind, name=path.name, options=options)
        options |= guess(file, preview(path, name=path.name), options)
    return options


def written(kind: str, folder: Path, content: bytes | None = None) -> Path:
    """A file of a format in a folder, by default its sample."""
    path = folder / FORMATS[kind].sample.name
    path.write_bytes(sample_of(kind) if content is None else content)
    return path


def take(
    study: Study, kind: str, folder: Path, content: bytes | None = None, **asked: Any
) -> ImportOutcome:
    """Import a file of a format, by default its sample; with write=False look at it."""
    path = written(kind, folder, content)
    options = options_of(study, kind, path)
    asked = {"write": True} | asked
    return import_path(study=study, kind=kind, path=path, name=path.name, options=options, **asked)


def take_before(study: Study, kind: str, folder: Path) -> None:
    """Import what a file of the format needs in the study."""
    if before := FORMATS[kind].sample.after:
        take_before(study, before, folder)
        take(study, before, folder)
