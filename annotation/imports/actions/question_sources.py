"""Lists of questions as streams of entries: the question, and the arguments beside it."""

from collections.abc import Iterator
from typing import Any

from annotation.imports.methods.question_list import read_question_list
from cqa_site.files.actions.rows import Line, Source, rejected
from cqa_site.tabular import Problem

from .rows import ArgumentEntry, QuestionEntry


def read_questions(source: Source) -> Iterator[Line]:
    """One question a row; its arguments belong to its two objects."""
    chosen: dict[str, Any] = {
        name: source.options.get(name) or None for name in ("encoding", "sheet")
    }
    for record in read_question_list(source.path, name=source.name, **chosen):
        if isinstance(record, Problem):
            yield rejected(record, of="questions")
            continue
        yield QuestionEntry(
            row=record.row,
            object1=record.object1,
            object2=record.object2,
            aspect=record.aspect,
            wording=record.wording,
        )
        for text in record.arguments:
            yield ArgumentEntry(
                row=record.row, object1=record.object1, object2=record.object2, text=text
            )
