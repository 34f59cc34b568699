"""The counting form: reads marks, typed counts and the comment as a page sends them."""

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.editing.models import plain_lines
from argsum.counting.actions.kind import CountContent
from argsum.counting.methods.marks import (
    NONE,
    POINTS,
    Marks,
    MarksError,
    check_marks,
    is_half_step,
    marks_to_json,
)
from argsum.counting.methods.statement_letters import letters
from argsum.counting.models import CountSheet
from cqa_site.rounds.forms.save import SaveForm

LONGEST_COMMENT = 5_000
LONGEST_COUNT = 40
# The comment at its longest, each letter encoded as three bytes of three, and every mark.
LONGEST_FORM = 1_000_000
EMPTY = "0"


class CountForm(SaveForm):
    """Reads marks, typed counts and the comment.

    A typed count that is none is kept in the content as a text and said in ``unready``: so it can
    be stored as a draft all the same, but not be submitted.

    Fields: ``level-0`` ("full", "part", "none") and ``by-0`` (numbers of summaries, any number of
    times) for every reference; ``group-0`` (a letter, or "0" for a summary that says nothing) and
    ``partly-0`` for every summary; ``covered`` and ``unique`` (typed counts), ``covered_unsure``
    and ``unique_unsure``; ``comment``.
    """

    longest = LONGEST_FORM

    def read(self, data: QueryDict, sheet: CountSheet) -> CountContent:
        """Marks that do not fit are refused, each with its place."""
        self.given, self.sheet = data, sheet
        self._texts: dict[str, str] = {}
        marks = self._marks()
        return CountContent(
            marks=marks_to_json(marks),
            covered=self._typed("covered", sheet.references),
            covered_is_unsure=bool(data.get("covered_unsure")),
            unique=self._typed("unique", sheet.summaries),
            unique_is_unsure=bool(data.get("unique_unsure")),
            comment=self._comment(),
            covered_text=self._texts.get("covered", ""),
            unique_text=self._texts.get("unique", ""),
        )

    def _marks(self) -> Marks:
        levels = self._levels()
        places = range(self.sheet.summaries)
        names = {name: place for place, name in enumerate(letters(self.sheet.summaries))}
        chosen = {each: self.given.get(f"group-{each}", "") for each in places}
        for each, name in chosen.items():
            if name and name != EMPTY and name not in names:
                self.wrong[f"group-{each}"] = _("Summary %d has no such letter.") % (each + 1)
        used = sorted({names[name] for name in chosen.values() if name in names})
        groups = tuple(
            tuple(each for each in places if names.get(chosen[each]) == number) for number in used
        )
        marks = Marks(
            levels=levels,
            by=self._by(levels),
            groups=groups,
            partly=tuple(
                each
                for each in places
                if self.given.get(f"partly-{each}") and chosen[each] != EMPTY
            ),
            empty=tuple(each for each in places if chosen[each] == EMPTY),
        )
        try:
            check_marks(marks, self.sheet.references, self.sheet.summaries)
        except MarksError:
            self.wrong["marks"] = _("The marks do not fit this set; load the page again.")
            return Marks()
        return marks

    def _levels(self) -> dict[int, str]:
        levels = {}
        for each in range(self.sheet.references):
            level = self.given.get(f"level-{each}", "")
            if level in POINTS:
                levels[each] = level
            elif level:
                self.wrong[f"level-{each}"] = _("Reference %d has no such mark.") % (each + 1)
        return levels

    def _by(self, levels: dict[int, str]) -> dict[int, tuple[int, ...]]:
        """Summaries that cover a reference; what is not covered is covered by none."""
        by = {}
        for place in range(self.sheet.references):
            given = [each for each in self.given.getlist(f"by-{place}") if each.isdecimal()]
            if given and levels.get(place) != NONE:
                by[place] = tuple(sorted({int(each[:6]) for each in given}))
        return by

    def _typed(self, name: str, most: int) -> float | None:
        given = self.given.get(name, "").replace("\x00", "").strip()
        if not given:
            return None
        try:
            value = float(given.replace(",", "."))
        except ValueError:
            value = -1.0
        if not is_half_step(value, most):
            text = _("“%(given)s” is no count: it goes from 0 to %(most)d in half steps.")
            self._texts[name] = given[:LONGEST_COUNT]
            self.unready += text % {"given": self._texts[name], "most": most} + " "
            return None
        return value

    def _comment(self) -> str:
        text = plain_lines(self.given.get("comment", ""))
        if len(text) > LONGEST_COMMENT or "\x00" in text:
            self.wrong["comment"] = (
                _("The comment is longer than %d characters.") % LONGEST_COMMENT
            )
            return text.replace("\x00", "")[:LONGEST_COMMENT]
        return text if text.strip() else ""
