"""How a table of score sheets is probably to be read."""

from typing import Any

from benchmark.imports.methods.columns import guess_columns
from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.files.actions.guessing import has_mark
from cqa_site.files.models import ImportFile
from cqa_site.tabular import Preview

from .entries import chosen_rubric


def sheet_options(file: ImportFile, shown: Preview) -> dict[str, Any]:
    """Which column is what; raises ImportRefused for a rubric that is not there."""
    return columns_of(file, shown, chosen_rubric(file.study, file.options).rubric)


def columns_of(file: ImportFile, shown: Preview, rubric: Rubric) -> dict[str, Any]:
    """The same by a rubric at hand."""
    mapping = guess_columns(shown.columns, rubric)
    is_safe = "rubric_sha256" in mapping and shown.kind == "csv" and has_mark(file)
    return {"mapping": mapping, "undo_spreadsheet_marks": is_safe}
