"""Having figures brought up to date after an import; once for a folder of files."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from benchmark.leaderboard.actions import request_board
from benchmark.rubrics.models import RubricVersion
from cqa_site.people.models import Study

Asked = dict[int, tuple[Study, RubricVersion]]
_held: ContextVar[Asked | None] = ContextVar("held boards", default=None)


def ask_for_board(study: Study, rubric: RubricVersion) -> None:
    """Ask for the figures of a rubric, or note it inside `boards_once`."""
    held = _held.get()
    if held is not None:
        held[rubric.pk] = (study, rubric)
        return
    request_board(study=study, rubric=rubric)


@contextmanager
def boards_once() -> Iterator[None]:
    """Ask for each board once, at the end."""
    asked: Asked = {}
    token = _held.set(asked)
    try:
        yield
    finally:
        _held.reset(token)
    for study, rubric in asked.values():
        ask_for_board(study, rubric)
