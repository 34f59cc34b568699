"""Forms of editing rounds and of the editing desk."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.actions.editing_drafts import Sent
from annotation.actions.editing_revisions import Reasons
from annotation.actions.editing_rounds import LEAVE, LEAVE_QUESTIONS, Plan, experts_of
from annotation.models import Answer, DraftConflict, EditingRound, Revision, System
from annotation.models.editing import plain_lines
from cqa_site.people.models import Study, User

LONGEST_TEXT = 100_000
LONGEST_COMMENT = 2_000
LONGEST_INSTRUCTIONS = 20_000
MOST_ANSWERS = 500
LARGEST = 2**31 - 1


class ExpertsField(forms.ModelMultipleChoiceField):
    """People by name, chosen with boxes."""

    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, user: User) -> str:
        """The name as researchers know it."""
        return str(user)


class RoundForm(forms.Form):
    """Everything that a draft round decides."""

    name = forms.CharField(label=_("Name"), max_length=120)
    experts = ExpertsField(
        label=_("Experts"),
        queryset=User.objects.none(),
        to_field_name="public_id",
        help_text=_("Members of the study with the role of an expert."),
    )
    calibration = forms.IntegerField(
        label=_("Answers that everybody edits"),
        min_value=0,
        max_value=MOST_ANSWERS,
        initial=10,
        help_text=_("For calibration. 0 means none."),
    )
    individual = forms.IntegerField(
        label=_("Answers for each expert alone"),
        min_value=0,
        max_value=MOST_ANSWERS,
        initial=10,
        help_text=_(
            "To discuss the calibration answers first, make one round without these, close it, "
            "and make a second round."
        ),
    )
    system = forms.ModelChoiceField(
        label=_("Only answers of"),
        queryset=System.objects.none(),
        required=False,
        to_field_name="public_id",
        empty_label=_("Any system"),
    )
    scenario = forms.TypedChoiceField(
        label=_("Only scenario"), coerce=int, empty_value=None, required=False
    )
    choice = forms.IntegerField(
        label=_("Only choice number"),
        required=False,
        min_value=1,
        max_value=32_767,
        help_text=_("Where a system answered several times. Empty means any."),
    )
    leave = forms.ChoiceField(
        label=_("Leave out"),
        choices=LEAVE,
        initial=LEAVE_QUESTIONS,
        required=False,
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=LARGEST,
        help_text=_("The same seed and the same answers give the same split again."),
    )
    instructions = forms.CharField(
        label=_("Instructions"),
        max_length=LONGEST_INSTRUCTIONS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("Shown on the desk. Markdown."),
    )

    def __init__(
        self, *args, study: Study, editing_round: EditingRound | None = None, **kwargs
    ) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.editing_round = study, editing_round
        people = experts_of(study).values("user")
        self.fields["experts"].queryset = User.objects.filter(pk__in=people).order_by("pk")
        self.fields["system"].queryset = study.systems.all()
        self.fields["scenario"].choices = [("", _("Any")), *Answer.Scenario.choices]

    def clean_name(self) -> str:
        """Keep names apart within the study."""
        name = self.cleaned_data["name"]
        others = self.study.editing_rounds.filter(name=name)
        if self.editing_round is not None:
            others = others.exclude(pk=self.editing_round.pk)
        if others.exists():
            raise ValidationError(_("Another round of this study has this name."))
        return name

    def clean(self) -> dict[str, Any]:
        """Ask for at least one answer."""
        data = super().clean()
        if data.get("calibration") == 0 and data.get("individual") == 0:
            self.add_error("individual", _("The round needs at least one answer."))
        return data

    def plan(self) -> Plan:
        """The cleaned fields as the action takes them."""
        data = self.cleaned_data
        return Plan(
            **{key: data[key] for key in ("name", "seed", "calibration", "individual")},
            **{key: data[key] for key in ("instructions", "system", "scenario", "choice")},
            experts=tuple(data["experts"]),
            leave=data["leave"] or LEAVE_QUESTIONS,
        )


class VerbatimField(forms.CharField):
    """A text exactly as written, with the line ends that the desk uses."""

    def __init__(self, **kwargs) -> None:
        super().__init__(strip=False, max_length=LONGEST_TEXT, **kwargs)

    def clean(self, value: Any) -> Any:
        """A form without script sends other line ends."""
        return plain_lines(super().clean(value))


class DraftForm(forms.Form):
    """A draft as the desk sends it, with or without script the same fields."""

    text = VerbatimField(required=False)
    base_version = forms.IntegerField(min_value=0, max_value=LARGEST)
    client = forms.CharField(max_length=36, required=False)
    sequence = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    active_seconds = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)

    def clean(self) -> dict[str, Any]:
        """An empty text is a text; a missing one is a mistake."""
        if "text" not in self.data:
            self.add_error("text", _("The text is missing."))
        return super().clean()

    def sent(self) -> Sent:
        """The cleaned fields as the action takes them."""
        data = self.cleaned_data
        return Sent(
            text=data["text"],
            base_version=data["base_version"],
            client=data["client"],
            sequence=data["sequence"] or 0,
            active_seconds=data["active_seconds"] or 0,
        )


class SubmitForm(DraftForm):
    """A draft with the reasons for its changes."""

    client_key = forms.CharField(max_length=64)
    reasons = forms.MultipleChoiceField(
        label=_("What did you change, and why?"),
        choices=Revision.Reason,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    comment = forms.CharField(label=_("Comment"), max_length=LONGEST_COMMENT, required=False)

    def why(self) -> Reasons:
        """Codes and comment as the action takes them."""
        data = self.cleaned_data
        return Reasons(tuple(data["reasons"]), plain_lines(data["comment"]))


class SettleForm(forms.Form):
    """Which text goes on after a conflict."""

    choice = forms.ChoiceField(choices=DraftConflict.Choice)
    base_version = forms.IntegerField(min_value=0, max_value=LARGEST)
    text = VerbatimField(required=False)

    def clean(self) -> dict[str, Any]:
        """A merged text is one that was written."""
        data = super().clean()
        is_merged = data.get("choice") == DraftConflict.Choice.MERGED
        if is_merged and not data.get("text", "").strip():
            self.add_error("text", _("The merged text is empty."))
        return data


class CommentForm(forms.Form):
    """A word in the discussion of a calibration answer."""

    text = forms.CharField(
        label=_("Your comment"),
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
