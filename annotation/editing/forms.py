"""Forms for editing rounds and the editing desk."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.answers.forms import ConditionField, one_condition
from annotation.answers.models import Answer, System
from annotation.editing.actions.kind import EDITING, ConflictChoice, EditContent
from annotation.editing.actions.rounds import (
    LEAVE,
    LEAVE_QUESTIONS,
    EditingPlan,
    experts_of,
    matching_answers,
    plan_round,
)
from annotation.editing.models import EditingSheet, Revision, plain_lines
from cqa_site.people.models import User
from cqa_site.rounds.forms import LARGEST, Extent, RoundPlanForm, SaveForm
from cqa_site.rounds.progress import seconds_each
from cqa_site.web.pages import offer

LONGEST_TEXT = 100_000
LONGEST_COMMENT = 2_000
MOST_ANSWERS = 500


class ExpertsField(forms.ModelMultipleChoiceField):
    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, user: User) -> str:
        """Return the name that researchers see."""
        return str(user)


class EditingRoundForm(RoundPlanForm):
    kind = EDITING
    planned = staticmethod(plan_round)
    advanced = ("scenario", "condition", "leave", "makes_answers", *RoundPlanForm.advanced)
    groups = (
        ("", (("experts",), ("calibration", "individual"))),
        ("", (("system", "scenario"), ("condition", "choice"), ("leave",))),
    )
    # Sheets are assigned to experts, so they are neither repeated nor reserved for a limited time.
    repeat_share = None
    lease_minutes = None
    experts = ExpertsField(
        label=_("Experts"),
        queryset=User.objects.none(),
        to_field_name="public_id",
        help_text=_("Study members with the expert role."),
    )
    calibration = forms.IntegerField(
        label=_("Answers for everyone"),
        min_value=0,
        max_value=MOST_ANSWERS,
        initial=10,
        help_text=_("For calibration. 0 means none."),
    )
    individual = forms.IntegerField(
        label=_("Answers per expert"),
        min_value=0,
        max_value=MOST_ANSWERS,
        initial=10,
        help_text=_(
            "To discuss calibration answers first, create a round with calibration answers only, "
            "close it, then create a second round."
        ),
    )
    system = forms.ModelChoiceField(
        label=_("System"),
        queryset=System.objects.none(),
        required=False,
        to_field_name="public_id",
        empty_label=_("Any system"),
    )
    scenario = forms.TypedChoiceField(
        label=_("Scenario"),
        choices=[("", _("Any")), *Answer.Scenario.choices],
        coerce=int,
        empty_value=None,
        required=False,
    )
    condition = ConditionField(
        help_text=_("By default, answers written from filtered arguments are left out.")
    )
    choice = forms.IntegerField(
        label=_("Choice number"),
        required=False,
        min_value=1,
        max_value=32_767,
        help_text=_(
            "For systems that answered a question several times. Leave empty to include every "
            "answer."
        ),
    )
    leave = forms.ChoiceField(
        label=_("Exclude"), choices=LEAVE, initial=LEAVE_QUESTIONS, required=False
    )
    makes_answers = forms.BooleanField(
        label=_("Add submitted texts as answers when the round closes"),
        required=False,
        initial=True,
        help_text=_(
            "The new answers belong to a system of the kind “People”. Each is linked to its "
            "revision and original answer. You can also add them by hand later."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = experts_of(self.study).values("user")
        offer(self, experts=User.objects.filter(pk__in=people).order_by("pk"))
        offer(self, system=self.study.systems.all(), condition=one_condition(self.study))

    def clean(self) -> dict[str, Any]:
        """Require at least one answer."""
        data = super().clean() or {}
        if data.get("calibration") == 0 and data.get("individual") == 0:
            self.add_error("individual", _("The round needs at least one answer."))
        return data

    def plan(self) -> EditingPlan:
        """Return the cleaned fields as a plan."""
        data = self.cleaned_data
        return EditingPlan(
            name=data.get("name", ""),
            **{key: data[key] for key in ("seed", "calibration", "individual")},
            **{key: data[key] for key in ("instructions", "system", "scenario", "choice")},
            condition=data["condition"],
            makes_answers=data["makes_answers"],
            experts=tuple(data["experts"]),
            leave=data["leave"] or LEAVE_QUESTIONS,
        )

    def measure(self) -> Extent:
        """Return the size of the planned round; 0 if too few answers match."""
        plan = self.plan()
        people = len(plan.experts)
        items = plan.calibration + people * plan.individual
        if items > matching_answers(study=self.study, plan=plan, round_=self.round).count():
            items = 0
        return Extent(
            items=items,
            answers=people * (plan.calibration + plan.individual) if items else 0,
            people=people,
            seconds=seconds_each(EDITING, self.study),
        )


class VerbatimField(forms.CharField):
    """A text field that keeps the text exactly as written, except for line endings."""

    def __init__(self, **kwargs) -> None:
        super().__init__(strip=False, max_length=LONGEST_TEXT, **kwargs)

    def clean(self, value: Any) -> Any:
        """Normalize line endings, which differ if a form is sent without JavaScript."""
        return plain_lines(super().clean(value))


class EditForm(SaveForm):
    """Form for an editing desk; the page sends the same fields with and without JavaScript."""

    longest = LONGEST_TEXT

    reasons = forms.MultipleChoiceField(choices=Revision.Reason, required=False)
    comment = forms.CharField(max_length=LONGEST_COMMENT, required=False)

    def fields_of(self, data: QueryDict) -> QueryDict:
        """Return the form's fields with the answer's text."""
        return data

    def read(self, data: QueryDict, sheet: EditingSheet) -> EditContent:
        """Return the content with the desk's line endings; an empty text is valid."""
        if "text" not in data:
            self.wrong["text"] = str(_("The text is missing."))
        chosen = data.getlist("reasons")
        return EditContent(
            text=plain_lines(data.get("text", "")),
            reasons=[code for code in Revision.Reason.values if code in chosen],
            comment=plain_lines(data.get("comment", "")).strip(),
        )


class SettleForm(forms.Form):
    """Form to choose the text with which to continue after a conflict."""

    choice = forms.ChoiceField(choices=ConflictChoice)
    base_version = forms.IntegerField(min_value=0, max_value=LARGEST)
    text = VerbatimField(required=False)

    def clean(self) -> dict[str, Any]:
        """Require a text for a merge."""
        data = super().clean() or {}
        is_merged = data.get("choice") == ConflictChoice.MERGED
        if is_merged and not data.get("text", "").strip():
            self.add_error("text", _("The merged text is empty."))
        return data


class CommentForm(forms.Form):
    text = forms.CharField(
        label=_("Your comment"),
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
