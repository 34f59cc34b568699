"""The counting form: reads marks, typed counts and the comment as a page sends them."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.forms.editing import LARGEST
from annotation.models.editing import plain_lines
from argsum.actions.counting_sheets import Content, Sent
from argsum.methods.count_marks import (
    NONE,
    POINTS,
    Marks,
    MarksError,
    check_marks,
    is_half_step,
    marks_to_json,
)
from argsum.methods.statement_letters import letters
from argsum.models import CountSheet

LONGEST_COMMENT = 5_000
LONGEST_COUNT = 40
# The comment at its longest, each letter encoded as three bytes of three, and every mark.
LONGEST_FORM = 1_000_000
EMPTY = "0"


class CountContent:
    """Reads one form; ``errors`` says what is wrong, by the name of the field.

    ``wrong_counts`` does so for typed counts: the content keeps them as texts, so it can be stored
    as a draft all the same, but not be submitted.

    Fields: ``level-0`` ("full", "part", "none") and ``by-0`` (numbers of summaries, any number of
    times) for every reference; ``group-0`` (a letter, or "0" for a summary that says nothing) and
    ``partly-0`` for every summary; ``covered`` and ``unique`` (typed counts), ``covered_unsure``
    and ``unique_unsure``; ``comment``.
    """

    def __init__(self, data: QueryDict, sheet: CountSheet) -> None:
        self.data, self.sheet = data, sheet
        self.errors: dict[str, str] = {}
        self.wrong_counts: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        marks = self._marks()
        self.content = Content(
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
        chosen = {each: self.data.get(f"group-{each}", "") for each in places}
        for each, name in chosen.items():
            if name and name != EMPTY and name not in names:
                self.errors[f"group-{each}"] = _("Summary %d has no such letter.") % (each + 1)
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
                if self.data.get(f"partly-{each}") and chosen[each] != EMPTY
            ),
            empty=tuple(each for each in places if chosen[each] == EMPTY),
        )
        try:
            check_marks(marks, self.sheet.references, self.sheet.summaries)
        except MarksError:
            self.errors["marks"] = _("The marks do not fit this set; load the page again.")
            return Marks()
        return marks

    def _levels(self) -> dict[int, str]:
        levels = {}
        for each in range(self.sheet.references):
            level = self.data.get(f"level-{each}", "")
            if level in POINTS:
                levels[each] = level
            elif level:
                self.errors[f"level-{each}"] = _("Reference %d has no such mark.") % (each + 1)
        return levels

    def _by(self, levels: dict[int, str]) -> dict[int, tuple[int, ...]]:
        """Summaries that cover a reference; what is not covered is covered by none."""
        by = {}
        for place in range(self.sheet.references):
            given = [each for each in self.data.getlist(f"by-{place}") if each.isdecimal()]
            if given and levels.get(place) != NONE:
                by[place] = tuple(sorted({int(each[:6]) for each in given}))
        return by

    def _typed(self, name: str, most: int) -> float | None:
        given = self.data.get(name, "").replace("\x00", "").strip()
        if not given:
            return None
        try:
            value = float(given.replace(",", "."))
        except ValueError:
            value = -1.0
        if not is_half_step(value, most):
            text = _("“%(given)s” is no count: it goes from 0 to %(most)d in half steps.")
            self._texts[name] = given[:LONGEST_COUNT]
            self.wrong_counts[name] = text % {"given": self._texts[name], "most": most}
            return None
        return value

    def _comment(self) -> str:
        text = plain_lines(self.data.get("comment", ""))
        if len(text) > LONGEST_COMMENT or "\x00" in text:
            self.errors["comment"] = (
                _("The comment is longer than %d characters.") % LONGEST_COMMENT
            )
            return text.replace("\x00", "")[:LONGEST_COMMENT]
        return text if text.strip() else ""


class SaveForm(forms.Form):
    """A sheet as a page sends it; with script the whole form travels as one text.

    The text is what the fields of the form are when it is sent without script, so both are read
    by the same code.
    """

    text = forms.CharField(required=False, strip=False, max_length=LONGEST_FORM)
    base_version = forms.IntegerField(min_value=0, max_value=LARGEST)
    client = forms.CharField(max_length=36, required=False)
    sequence = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    active_seconds = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    client_key = forms.CharField(max_length=64, required=False)

    def __init__(self, data: QueryDict, *, sheet: CountSheet) -> None:
        super().__init__(data)
        fields = QueryDict(data["text"][:LONGEST_FORM]) if "text" in data else data
        self.read = CountContent(fields, sheet)

    def clean(self) -> dict[str, Any]:
        """Marks that do not fit are refused, each with its place."""
        for text in self.read.errors.values():
            self.add_error(None, text)
        return super().clean()

    @property
    def wrong_counts(self) -> str:
        """What is wrong with the typed counts; only a draft may be stored with them."""
        return " ".join(self.read.wrong_counts.values())

    def sent(self) -> Sent:
        """The cleaned fields as the action takes them."""
        data = self.cleaned_data
        return Sent(
            content=self.read.content,
            base_version=data["base_version"],
            client=data["client"],
            sequence=data["sequence"] or 0,
            active_seconds=data["active_seconds"] or 0,
        )
