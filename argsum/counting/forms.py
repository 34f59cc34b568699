"""Forms for counts, counting rounds, counting runs and imports of counts."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.editing.models import plain_lines
from argsum.counting.actions.judge import (
    COVERAGE,
    KIND,
    REPLIES,
    TEMPERATURE,
    UNIQUENESS,
    target_of,
)
from argsum.counting.actions.rounds import (
    ALL,
    COUNTING,
    GUIDE,
    MOST_SETS,
    ONE,
    CountContent,
    CountingPlan,
    drawn_sets,
    plan_round,
)
from argsum.counting.imports.sheets import LONGEST_NAME
from argsum.counting.methods.counts import (
    NONE,
    POINTS,
    Marks,
    MarksError,
    check_marks,
    is_half_step,
    letters,
    marks_to_json,
)
from argsum.counting.models import CountSheet
from argsum.datasets.models import Cell, Dataset
from cqa_site.people.models import Study
from cqa_site.rounds.forms import Extent, RoundPlanForm, SaveForm, skip_share_field
from cqa_site.rounds.progress import seconds_each
from cqa_site.runs.forms.plan import RunPlanForm, differing
from cqa_site.web.pages import offer

LONGEST_COMMENT = 5_000
LONGEST_COUNT = 40
# Room for the longest comment with nine encoded bytes per letter, and for all marks.
LONGEST_FORM = 1_000_000
EMPTY = "0"


class CountForm(SaveForm):
    """Form for marks, typed counts and the comment.

    Typed text that is not a count remains in the content and is reported in ``unready``, so that
    it can be stored as a draft but not submitted.

    Fields: ``level-0`` ("full", "part", "none") and ``by-0`` (the number of a summary, repeatable)
    for every reference; ``group-0`` (a letter, or "0" for a summary that says nothing) and
    ``partly-0`` for every summary; ``covered`` and ``unique`` (typed counts), ``covered_unsure``
    and ``unique_unsure``; ``comment``.
    """

    longest = LONGEST_FORM

    def read(self, data: QueryDict, sheet: CountSheet) -> CountContent:
        """Read the content; invalid marks are rejected with their position."""
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
        chosen = {summary: self.given.get(f"group-{summary}", "") for summary in places}
        for position, name in chosen.items():
            if name and name != EMPTY and name not in names:
                self.wrong[f"group-{position}"] = _("The letter of summary %d is not valid.") % (
                    position + 1
                )
        used = sorted({names[name] for name in chosen.values() if name in names})
        groups = tuple(
            tuple(summary for summary in places if names.get(chosen[summary]) == number)
            for number in used
        )
        marks = Marks(
            levels=levels,
            by=self._by(levels),
            groups=groups,
            partly=tuple(
                summary
                for summary in places
                if self.given.get(f"partly-{summary}") and chosen[summary] != EMPTY
            ),
            empty=tuple(summary for summary in places if chosen[summary] == EMPTY),
        )
        try:
            check_marks(marks, self.sheet.references, self.sheet.summaries)
        except MarksError:
            self.wrong["marks"] = _("The marks do not match this set. Reload the page.")
            return Marks()
        return marks

    def _levels(self) -> dict[int, str]:
        levels = {}
        for number in range(self.sheet.references):
            level = self.given.get(f"level-{number}", "")
            if level in POINTS:
                levels[number] = level
            elif level:
                self.wrong[f"level-{number}"] = _("The mark for reference %d is not valid.") % (
                    number + 1
                )
        return levels

    def _by(self, levels: dict[int, str]) -> dict[int, tuple[int, ...]]:
        """Return the summaries that cover each reference; empty if a reference is not covered."""
        by = {}
        for place in range(self.sheet.references):
            texts = [text for text in self.given.getlist(f"by-{place}") if text.isdecimal()]
            if texts and levels.get(place) != NONE:
                by[place] = tuple(sorted({int(text[:6]) for text in texts}))
        return by

    def _typed(self, name: str, most: int) -> float | None:
        content = self.given.get(name, "").replace("\x00", "").strip()
        if not content:
            return None
        try:
            value = float(content.replace(",", "."))
        except ValueError:
            value = -1.0
        if not is_half_step(value, most):
            text = _(
                "“%(given)s” is not a count. Enter a number from 0 to %(most)d in steps of 0.5."
            )
            self._texts[name] = content[:LONGEST_COUNT]
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


PER_CELL = [
    (ONE, lazy("One per system and cell, with a random setting")),
    (ALL, lazy("All matching sets")),
]


class CountingRoundForm(RoundPlanForm):
    kind = COUNTING
    planned = staticmethod(plan_round)
    advanced = ("per_cell", "setting", "leave_out_used", *RoundPlanForm.advanced)
    groups = (
        (
            lazy("Sets to judge"),
            (
                ("dataset", "split"),
                ("systems",),
                ("per_cell", "setting"),
                ("size", "seed"),
                ("leave_out_used",),
            ),
        ),
        (
            lazy("Judging"),
            (("raters", "lease_minutes"), ("repeat_share", "skip_share"), ("instructions",)),
        ),
    )

    dataset = forms.ModelChoiceField(
        label=lazy("Dataset"),
        queryset=Dataset.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label=lazy("All datasets"),
    )
    split = forms.ChoiceField(
        label=lazy("Split"),
        choices=[("", lazy("Any split")), *Cell.Split.choices[1:]],
        required=False,
    )
    systems = forms.MultipleChoiceField(
        label=lazy("Systems"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("Default: all systems."),
    )
    setting = forms.CharField(
        label=lazy("Setting contains"),
        max_length=200,
        required=False,
        help_text=lazy("For example “threshold=0.5”. Default: any setting."),
    )
    per_cell = forms.ChoiceField(label=lazy("Sets to include"), choices=PER_CELL, initial=ONE)
    size = forms.IntegerField(
        label=lazy("Number of sets"),
        required=False,
        min_value=1,
        max_value=MOST_SETS,
        help_text=lazy("Random sample (leave empty for all)."),
    )
    leave_out_used = forms.BooleanField(
        label=lazy("Leave out sets in other rounds"), required=False
    )
    raters = forms.IntegerField(
        label=lazy("People per set"),
        min_value=1,
        max_value=20,
        initial=3,
        help_text=lazy("Agreement needs at least two people per set."),
    )
    skip_share = skip_share_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        study = self.study
        offer(self, dataset=study.argument_datasets.all())
        names = study.summary_sets.order_by("system").values_list("system", flat=True).distinct()
        offer(self, systems=[(name, name) for name in names])

    @classmethod
    def usual(cls, study: Study) -> dict[str, Any]:
        """Return the paper's questions as defaults."""
        return {"instructions": GUIDE}

    def plan(self) -> CountingPlan:
        """Return the cleaned fields as a plan."""
        data = self.plan_values
        data["systems"] = tuple(data["systems"])
        return CountingPlan(**data)

    def measure(self) -> Extent:
        """Return the extent of the round: the sets to draw, and the raters per set."""
        plan = self.plan()
        drawn, _found = drawn_sets(study=self.study, plan=plan, round_=self.round)
        return Extent(
            items=len(drawn),
            answers=len(drawn) * plan.raters,
            people=plan.raters,
            seconds=seconds_each(COUNTING, self.study),
        )


# Room to name each reference before the count.
MOST_TOKENS = 800


class CountingRunForm(RunPlanForm):
    """Sets, judge and number of replies of a counting run."""

    kind = KIND
    prompt_kinds = (COVERAGE, UNIQUENESS)
    advanced = ("dataset", "split", "systems", "replicates", *RunPlanForm.advanced)

    choice = forms.ChoiceField(
        label=lazy("Sets to judge"),
        choices=[
            ("all", lazy("All with key points and references")),
            ("judged", lazy("Judged by people")),
            ("sample", lazy("Random sample")),
        ],
        initial="all",
        widget=forms.RadioSelect,
    )
    dataset: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Dataset"), queryset=None, required=False, empty_label=lazy("all")
    )
    split = forms.ChoiceField(
        label=lazy("Split"),
        choices=[("", lazy("all")), *[pair for pair in Cell.Split.choices if pair[0]]],
        required=False,
    )
    systems = forms.MultipleChoiceField(
        label=lazy("Systems"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("Default: all systems."),
    )

    replicates = differing("replicates", label=lazy("Replies per set"), initial=REPLIES)
    temperature = differing(
        "temperature",
        initial=TEMPERATURE,
        help_text=lazy(
            "At temperature 0, all replies are similar, so their mean is hardly better than a "
            "single reply."
        ),
    )
    max_tokens = differing(
        "max_tokens",
        initial=MOST_TOKENS,
        help_text=lazy(
            "Leave room for a few words about each reference before the count. A truncated reply "
            "is requested once more with twice as many tokens."
        ),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, study=study, **kwargs)
        offer(self, dataset=study.argument_datasets.all())
        names = study.summary_sets.order_by("system").values_list("system", flat=True).distinct()
        offer(self, systems=[(name, name) for name in names])

    @property
    def target(self) -> dict[str, Any]:
        data = self.cleaned_data
        return target_of(
            dataset=str(data["dataset"].public_id) if data["dataset"] else "",
            split=data["split"],
            systems=data["systems"],
            choice=data["choice"],
            sample=data["sample"] or 0,
        )


class CountImportForm(forms.Form):
    dataset = forms.CharField(
        label=lazy("Dataset name"),
        max_length=LONGEST_NAME,
        help_text=lazy(
            "Topics are matched by text and stance. If the dataset does not exist, it is created "
            "with the topics and references from the file, without arguments."
        ),
    )
    rater = forms.CharField(
        label=lazy("Rater"),
        max_length=LONGEST_NAME,
        help_text=lazy("A short name that does not identify the person, such as A1."),
    )
    references = forms.ChoiceField(
        label=lazy("References with different wording"),
        required=False,
        choices=[
            ("", lazy("Import clear matches (the dry run lists them)")),
            ("same", lazy("Refuse")),
            ("order", lazy("Match in file order (first with first)")),
        ],
    )
