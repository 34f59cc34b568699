"""Forms of scoring rounds and of the scoring form itself."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.forms.editing import LARGEST
from annotation.models import Answer, System
from annotation.models.editing import plain_lines
from benchmark.actions.scoring_rounds import MOST_ANSWERS, WITH, WITHOUT, Plan
from benchmark.actions.scoring_sheets import Content, Sent
from benchmark.methods.rubric import MOST_CRITERIA, Rubric
from benchmark.models import RubricVersion, ScoreSheet, ScoringRound
from cqa_site.people.models import Study

LONGEST_NOTE = 2_000
# Every note and the comment at their longest, each letter encoded as three bytes of three.
LONGEST_FORM = 9 * LONGEST_NOTE * (MOST_CRITERIA + 1) + 10_000
LONGEST_INSTRUCTIONS = 20_000


class RoundForm(forms.Form):
    """Everything that a draft round decides."""

    name = forms.CharField(label=lazy("Name"), max_length=120)
    rubric = forms.ModelChoiceField(
        label=lazy("Rubric"),
        queryset=RubricVersion.objects.none(),
        to_field_name="public_id",
        empty_label=None,
    )
    systems = forms.ModelMultipleChoiceField(
        label=lazy("Only answers of"),
        queryset=System.objects.none(),
        to_field_name="public_id",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("None chosen means all."),
    )
    scenarios = forms.TypedMultipleChoiceField(
        label=lazy("Only scenarios"),
        coerce=int,
        choices=Answer.Scenario.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("None chosen means all."),
    )
    aspect = forms.ChoiceField(
        label=lazy("Questions"),
        choices=[
            ("", lazy("With and without an aspect")),
            (WITH, lazy("With an aspect")),
            (WITHOUT, lazy("Without an aspect")),
        ],
        required=False,
    )
    choice = forms.IntegerField(
        label=lazy("Only choice number"),
        required=False,
        min_value=1,
        max_value=32_767,
        help_text=lazy("Where a system answered several times. Empty means any."),
    )
    leave_out_used = forms.BooleanField(
        label=lazy("Leave out answers that another round holds"), required=False
    )
    size = forms.IntegerField(
        label=lazy("How many answers"),
        required=False,
        min_value=1,
        max_value=MOST_ANSWERS,
        help_text=lazy(
            "Empty takes all that match. A number draws them at random and keeps the chance each "
            "of them had, so that a leaderboard can be calibrated by it."
        ),
    )
    is_balanced = forms.BooleanField(
        label=lazy("Draw the same number from every system and scenario"),
        required=False,
        initial=True,
    )
    overlap_share = forms.FloatField(
        label=lazy("Share of answers that several people score"),
        min_value=0,
        max_value=1,
        initial=0.2,
        help_text=lazy("From 0 to 1. Without overlap there is no agreement to look at."),
    )
    overlap_raters = forms.IntegerField(
        label=lazy("People for each of these"), min_value=2, max_value=20, initial=2
    )
    repeat_share = forms.FloatField(
        label=lazy("Share of own answers that come a second time"),
        min_value=0,
        max_value=0.5,
        initial=0,
        help_text=lazy(
            "Shows how far people agree with themselves. Nobody is told which answers these are."
        ),
    )
    shows_hints = forms.BooleanField(
        label=lazy("Show what code can count, as a hint"),
        required=False,
        initial=True,
        help_text=lazy("Sentences, repetitions, citations. People decide, not the hint."),
    )
    pass_mark = forms.FloatField(
        label=lazy("Pass mark of the qualification"),
        min_value=0,
        max_value=1,
        initial=0.7,
        help_text=lazy(
            "Share of the examples' criteria that must agree with their key. Without examples "
            "nobody is asked to qualify."
        ),
    )
    lease_minutes = forms.IntegerField(
        label=lazy("Minutes an answer stays reserved"),
        min_value=5,
        max_value=1440,
        initial=120,
        help_text=lazy("Counted from the last change. Drafts are kept in any case."),
    )
    seed = forms.IntegerField(
        label=lazy("Seed"),
        min_value=0,
        max_value=LARGEST,
        help_text=lazy("The same seed and the same answers give the same round again."),
    )
    instructions = forms.CharField(
        label=lazy("Instructions"),
        max_length=LONGEST_INSTRUCTIONS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=lazy("Shown beside the form. Markdown."),
    )

    def __init__(
        self, *args, study: Study, scoring_round: ScoringRound | None = None, **kwargs
    ) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.scoring_round = study, scoring_round
        self.fields["rubric"].queryset = study.rubric_versions.all()
        self.fields["systems"].queryset = study.systems.all()

    def clean_name(self) -> str:
        """Keep names apart within the study."""
        name = self.cleaned_data["name"]
        others = self.study.scoring_rounds.filter(name=name)
        if self.scoring_round is not None:
            others = others.exclude(pk=self.scoring_round.pk)
        if others.exists():
            raise ValidationError(_("Another round of this study has this name."))
        return name

    def plan(self) -> Plan:
        """The cleaned fields as the action takes them."""
        data = dict(self.cleaned_data)
        data["systems"] = tuple(data["systems"])
        data["scenarios"] = tuple(data["scenarios"])
        return Plan(**data)


class SheetContent:
    """Reads points, reasons, notes and comment of a form; ``errors`` says what is wrong.

    Fields are named ``points-C1`` (a number, ``x`` for "cannot judge", or nothing),
    ``unable-C1`` (a code) and ``note-C1``.
    """

    def __init__(self, data: QueryDict, rubric: Rubric) -> None:
        self.errors: dict[str, str] = {}
        points: dict[str, int] = {}
        unable: dict[str, str] = {}
        notes: dict[str, str] = {}
        for criterion in rubric.criteria:
            key = criterion.key
            given = data.get(f"points-{key}", "").strip()
            if given == "x":
                unable[key] = self._code(key, data.get(f"unable-{key}", ""))
            elif given in {str(level.points) for level in criterion.levels}:
                points[key] = int(given)
            elif given:
                self.errors[key] = _("%(key)s takes 0 to %(most)d points.") % {
                    "key": key,
                    "most": criterion.maximum,
                }
            if note := self._text(key, data.get(f"note-{key}", "")):
                notes[key] = note
        comment = self._text("comment", data.get("comment", ""))
        self.content = Content(points, unable, notes, comment)

    def _code(self, key: str, code: str) -> str:
        if code in ScoreSheet.Unable.values:
            return code
        if code:
            self.errors[key] = _("Choose why you cannot judge %s.") % key
        return str(ScoreSheet.Unable.UNCLEAR)

    def _text(self, key: str, text: str) -> str:
        text = plain_lines(text)
        if len(text) > LONGEST_NOTE or "\x00" in text:
            self.errors[key] = _("The note is longer than %d characters.") % LONGEST_NOTE
            return text.replace("\x00", "")[:LONGEST_NOTE]
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

    def __init__(self, data: QueryDict, *, rubric: Rubric) -> None:
        super().__init__(data)
        fields = QueryDict(data["text"]) if "text" in data else data
        self.sheet = SheetContent(fields, rubric)

    def clean(self) -> dict[str, Any]:
        """Points that the rubric does not have are refused, each with its criterion."""
        for text in self.sheet.errors.values():
            self.add_error(None, text)
        return super().clean()

    def sent(self) -> Sent:
        """The cleaned fields as the action takes them."""
        data = self.cleaned_data
        return Sent(
            content=self.sheet.content,
            base_version=data["base_version"],
            client=data["client"],
            sequence=data["sequence"] or 0,
            active_seconds=data["active_seconds"] or 0,
        )
