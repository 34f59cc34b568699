"""Files of systems' key points as lines of an import."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from argsum.datasets.methods.argument_columns import as_stance
from argsum.datasets.methods.raw_cells import LONGEST_TOPIC, Misfit
from argsum.imports.methods.system_files import SystemSet, read_system_file
from cqa_site.files.actions.rows import Entry, ImportRefused, Line, Note, Source, rejected

from .entries import system_of

BOOK = "sets"
POINTS = "system_points"
# As `order` of an import: the file's ids of arguments are left aside.
NO_ORDER = "none"


@dataclass(frozen=True, slots=True)
class SystemEntry(Entry):
    """One set; ``together`` are all sets of the file with ids, by which their order is checked."""

    is_row: ClassVar[bool] = False

    dataset: str
    found: SystemSet
    order: str = ""
    scorer: str = ""
    together: Sequence[SystemSet] = ()

    @property
    def about(self) -> str:
        """For the place of a remark."""
        said = (self.found.topic, self.found.system, self.found.setting)
        return " · ".join(each for each in said if each)[:80]


def read_system_points(source: Source) -> Iterator[Line]:
    """One entry a set; what the file does not say is taken from what was asked."""
    found = read_system_file(source.path, name=source.name)
    for problem in found.problems:
        yield rejected(problem, of=BOOK)
    order = source.text("order")
    asked = _asked(source.options)
    sets = [_completed(each, asked, source) for each in found.sets]
    if order == NO_ORDER:
        sets = [replace(each, places=()) for each in sets]
    empty = sum(not each.points for each in sets)
    if empty:
        text = ngettext(
            "%s setting has no key points in the file: that is kept as its outcome.",
            "%s settings have no key points in the file: that is kept as their outcome.",
            empty,
        )
        yield Note(text % f"{empty:,}")
    together = [each for each in sets if each.places]
    if together:
        yield Note(_("The file says which argument belongs to which key point, by position."))
    for each in sets:
        yield SystemEntry(
            row=each.row,
            dataset=source.text("dataset"),
            found=each,
            order="" if order == NO_ORDER else order,
            scorer=source.text("scorer"),
            together=together if each.places else (),
        )


def _asked(options: Mapping[str, Any]) -> tuple[str, int | None]:
    """Topic and stance of a file that does not say."""
    topic = str(options.get("topic") or "").strip()[:LONGEST_TOPIC]
    given = str(options.get("stance") or "").strip()
    if not given:
        return topic, None
    try:
        return topic, as_stance({"stance": given}, is_needed=False)
    except Misfit as misfit:
        raise ImportRefused(str(misfit)) from None


def _completed(found: SystemSet, asked: tuple[str, int | None], source: Source) -> SystemSet:
    topic, stance = asked
    return replace(
        found,
        topic=found.topic or topic,
        stance=stance if found.stance is None else found.stance,
        system=found.system or system_of(source.options, source.name),
    )
