"""A score sheet as a file states it, and the version of the rubric it was scored by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from annotation.imports.books.answers import Place
from benchmark.rubrics.methods.as_json import rubric_sha256, rubric_to_dict
from benchmark.rubrics.methods.compqa_rubric import COMPQA
from benchmark.rubrics.models import RubricVersion
from cqa_site.files.actions.rows import Entry, ImportRefused
from cqa_site.people.models import Study

BOOK = "sheets"
# Sheets of a model without usable points: kept with the reason, and in no figure.
UNSCORED_BOOK = "unscored_sheets"


@dataclass(frozen=True, slots=True)
class SheetEntry(Entry):
    """One sheet of a file.

    ``answer`` is the key of an answer of the study, or the place of one that
    the same file brings. A sheet is known by file, position and rater; one
    exported here also by its own id (``sheet``).
    """

    rubric: RubricVersion
    answer: int | Place
    source: str
    position: int
    rater_kind: str
    rater_id: str
    rater_name: str = ""
    replicate: int = 0
    points: Mapping[str, float] = field(default_factory=dict)
    unable: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    reason: str = ""
    off_scale: tuple[str, ...] = ()
    given: Mapping[str, float] = field(default_factory=dict)
    is_consolidated: bool = False
    is_extra: bool = False
    submitted_at: datetime | None = None
    sheet: str = ""

    @property
    def book(self) -> str:
        """Under what it is counted."""
        return UNSCORED_BOOK if self.reason else BOOK

    @property
    def values(self) -> tuple[Any, ...]:
        """What makes two sheets say the same."""
        return self.reason, dict(self.points), dict(self.unable)


def chosen_rubric(study: Study, options: Mapping[str, Any]) -> RubricVersion:
    """The version that was chosen, else the newest of CompQA; not yet stored if there is none.

    A dry run writes nothing, so only the book makes the first version.
    """
    asked = str(options.get("rubric") or "")
    if asked:
        return _asked_for(study, asked)
    newest = study.rubric_versions.filter(name=COMPQA.name).order_by("-number").first()
    return newest or RubricVersion(
        study=study,
        name=COMPQA.name,
        number=1,
        content=rubric_to_dict(COMPQA),
        sha256=rubric_sha256(COMPQA),
    )


def _asked_for(study: Study, asked: str) -> RubricVersion:
    try:
        found = study.rubric_versions.filter(public_id=UUID(asked)).first()
    except ValueError:
        found = None
    if found is None:
        raise ImportRefused(_("The study has no such version of a rubric."))
    return found
