"""Questions, numbered arguments, answers and revisions as tables, with their origin.

Rows are read in short queries while a file is being written. Editors appear under a pseudonym that
is valid only within one file; their comments are left out unless requested.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models.fields.json import KT
from django.utils.translation import gettext_lazy as _

from annotation.corpus.models import ListedArgument
from annotation.editing.models import Revision
from cqa_site.files.actions.exports import FileTable, Row
from cqa_site.people.models import Study
from .tables import in_pieces

CONTENTS = [
    ("answers", _("Answers")),
    ("questions", _("Questions")),
    ("arguments", _("Numbered arguments")),
    ("revisions", _("Revisions by experts")),
]
FORMATS = [("csv", "CSV"), ("jsonl", "JSON Lines")]

QUESTION_COLUMNS: dict[str, tuple[str, type]] = {
    "question_id": ("public_id", str),
    "object1": ("comparison__object1", str),
    "object2": ("comparison__object2", str),
    "aspect": ("aspect", str),
    "wording": ("wording", str),
    "created_at": ("created_at", datetime),
}
ARGUMENT_COLUMNS: dict[str, tuple[str, type]] = {
    "argument_list_id": ("argument_list__public_id", str),
    "question_id": ("argument_list__question__public_id", str),
    "number": ("number", int),
    "argument_id": ("argument__public_id", str),
    "text": ("argument__text", str),
    "source_url": ("argument__source_url", str),
    "attributes": ("argument__attributes", dict),
    "recipe": ("argument_list__recipe", dict),
}
ANSWER_COLUMNS: dict[str, tuple[str, type]] = {
    "answer_id": ("public_id", str),
    "question_id": ("question__public_id", str),
    "object1": ("question__comparison__object1", str),
    "object2": ("question__comparison__object2", str),
    "aspect": ("question__aspect", str),
    "wording": ("question__wording", str),
    "system": ("system__name", str),
    "system_kind": ("system__kind", str),
    "scenario": ("scenario", int),
    "condition_id": ("condition__public_id", str),
    "filters": ("condition__filters", dict),
    "question_shown": ("condition__wording", dict),
    "decoding": ("condition__decoding", dict),
    "is_plain": ("condition__is_plain", bool),
    "choice": ("choice", int),
    "text": ("text", str),
    "text_sha256": ("text_sha256", str),
    "argument_list_id": ("argument_list__public_id", str),
    "source": ("source", str),
    "position": ("position", int),
    "run": ("run__number", int),
    "run_id": ("run__public_id", str),
    "call_id": ("call__public_id", str),
    "prompt": ("prompt__name", str),
    "prompt_number": ("prompt__number", int),
    "prompt_sha256": ("prompt__sha256", str),
    "revision_id": ("revision__public_id", str),
    "edited_from": ("revision__sheet__answer__public_id", str),
    "model": ("model", str),
    "created_at": ("created_at", datetime),
}
REVISION_COLUMNS: dict[str, tuple[Any, type]] = {
    "revision_id": ("public_id", str),
    "answer_id": ("sheet__answer__public_id", str),
    "question_id": ("sheet__answer__question__public_id", str),
    "round": ("sheet__round__name", str),
    "is_calibration": ("sheet__is_calibration", bool),
    "editor_id": ("sheet__rater__user__public_id", str),
    "number": ("number", int),
    "text": (KT("content__text"), str),
    "text_sha256": ("text_sha256", str),
    "reasons": ("content__reasons", list),
    "checks": ("checks", dict),
    "comment": (KT("content__comment"), str),
    "active_seconds": ("active_seconds", int),
    "created_at": ("at", datetime),
}


@dataclass(frozen=True)
class ExportRequest:
    """The study to export, and options for its rows."""

    study: Study
    with_comments: bool = False
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def pseudonym(self, person: Any) -> str:
        """Return the editor's pseudonym in this file."""
        return "E-" + hmac.new(self.salt, str(person).encode(), hashlib.sha256).hexdigest()[:12]


def questions(wish: ExportRequest) -> FileTable:
    return _table(wish.study.questions, QUESTION_COLUMNS)


def arguments(wish: ExportRequest) -> FileTable:
    """Return every numbered argument in the lists that answers cite."""
    rows = ListedArgument.objects.filter(argument_list__question__study=wish.study)
    return _table(rows, ARGUMENT_COLUMNS)


def answers(wish: ExportRequest) -> FileTable:
    """Return all answers with their texts as written."""
    return _table(wish.study.answers, ANSWER_COLUMNS)


def revisions(wish: ExportRequest) -> FileTable:
    """Return all submitted versions of answers, oldest first."""
    rows = Revision.objects.filter(sheet__answer__study=wish.study)
    hidden = () if wish.with_comments else ("comment",)
    columns = {name: column for name, column in REVISION_COLUMNS.items() if name not in hidden}
    return _table(rows, columns, {"editor_id": wish.pseudonym})


def _table(
    rows: Any,
    columns: Mapping[str, tuple[Any, type]],
    otherwise: dict[str, Callable[[Any], Any]] | None = None,
) -> FileTable:
    types = {name: kind for name, (_path, kind) in columns.items()}
    converters = [(otherwise or {}).get(name, _SHOWN.get(kind)) for name, kind in types.items()]
    paths = [path for path, _kind in columns.values()]
    pieces = in_pieces(rows.order_by("pk").values_list("pk", *paths))
    return FileTable(types, (_row(row[1:], converters) for row in pieces))


def _row(values: Row, converters: list[Callable[[Any], Any] | None]) -> Row:
    return tuple(
        show(value) if show is not None and value is not None else value
        for value, show in zip(values, converters, strict=True)
    )


def _minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


_SHOWN: dict[type, Callable[[Any], Any]] = {str: str, datetime: _minute}
TABLES: dict[str, Callable[[ExportRequest], FileTable]] = {
    "questions": questions,
    "arguments": arguments,
    "answers": answers,
    "revisions": revisions,
}


def plain_cells(rows: Iterator[Row], write: Callable[[Any], str]) -> Iterator[Row]:
    """Yield rows with lists and objects as text, for formats without nesting."""
    for row in rows:
        yield tuple(write(cell) if isinstance(cell, (dict, list)) else cell for cell in row)
