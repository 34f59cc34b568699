"""Forms for the next version of an onboarding and for decisions about qualifications."""

import json
import re
from pathlib import Path
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.people.models import Study, User
from cqa_site.web.pages import offer
from ..access import LONGEST_REASON, WORKERS
from ..models import Onboarding, OnboardingVersion
from .questions import questions_text, read_questions
from .steps import CONSENT, QUALIFICATION, READING, SCREENING, SURVEY, TRAINING

# Template texts, in our own words.
STARTS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("starts.json").read_text("utf-8")
)
LONGEST_TEXT = 20_000
# Placeholders in these texts are in square brackets. In Markdown links, "(" follows the brackets.
LEFT_OPEN = re.compile(r"\[[^\]\n]+\](?!\()")
NOTATION = lazy(
    "One question per block, separated by empty lines. Begin choices with “-”, right choices "
    "with “+”, an explanation with “=”, and a reference to the guideline with “@”."
)


def _text_field(label: Any, rows: int, help_text: Any) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": rows}),
        help_text=help_text,
    )


def _number_field(label: Any, most: int, initial: int, help_text: Any = "") -> forms.IntegerField:
    return forms.IntegerField(
        label=label, min_value=0, max_value=most, initial=initial, help_text=help_text
    )


class OnboardingForm(forms.Form):
    """A version, with the guideline and fields for each step; empty steps are left out."""

    advanced: ClassVar[tuple[str, ...]] = (
        "typing", "screening", "reads", "quiz_minutes", "qualification", "qualification_right",
        "qualification_attempts", "qualification_minutes", "survey", "valid_days",
    )  # fmt: skip

    name = forms.CharField(label=lazy("Name"), max_length=120)
    text = _text_field(
        lazy("Guideline"),
        12,
        lazy(
            "Markdown. Shown before the first item, and beside every item in rounds with sheets."
        ),
    )
    consent = _text_field(
        lazy("Consent"),
        8,
        lazy(
            "What the study is for, what is stored, how to withdraw, and whom to write to. "
            "Markdown. Leave empty if no consent is needed."
        ),
    )
    typing = forms.BooleanField(
        label=lazy("Record how texts are typed"),
        required=False,
        help_text=lazy(
            "Characters typed and pasted, and the time between keystrokes. The consent page "
            "states this."
        ),
    )
    screening = _text_field(
        lazy("Screening questions"),
        5,
        lazy("Same notation as the quiz: “+” marks choices that admit people. Optional."),
    )
    reads = forms.BooleanField(
        label=lazy("Show the guideline before the first item"), required=False, initial=True
    )
    quiz = _text_field(lazy("Quiz"), 10, NOTATION)
    quiz_attempts = _number_field(lazy("Quiz attempts"), 10, 2)
    quiz_minutes = _number_field(lazy("Minutes between quiz attempts"), 10_080, 0)
    training = _number_field(
        lazy("Training items"),
        20,
        0,
        lazy("With feedback, if there are right answers (not for editing). 0 means none."),
    )
    qualification = _number_field(
        lazy("Qualification items"), 50, 0, lazy("Without feedback. 0 means none.")
    )
    qualification_right = _number_field(lazy("Right answers needed"), 50, 0)
    qualification_attempts = _number_field(lazy("Qualification attempts"), 10, 1)
    qualification_minutes = _number_field(
        lazy("Minutes between qualification attempts"), 10_080, 0
    )
    survey = _text_field(
        lazy("Survey after the work"),
        5,
        lazy(
            "Questions with choices, or without choices for free text; end a question with "
            "[number] to ask for a number. Leave empty for no survey."
        ),
    )
    valid_days = forms.IntegerField(
        label=lazy("Days a qualification is valid"),
        required=False,
        min_value=1,
        max_value=3_650,
        help_text=lazy("Leave empty for no limit."),
    )
    keeps_qualifications = forms.BooleanField(
        label=lazy("Small change: qualifications stay valid"),
        required=False,
        help_text=lazy("Otherwise, everybody repeats the steps for the new version."),
    )

    def __init__(
        self, *args: Any, study: Study, onboarding: Onboarding | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.onboarding = study, onboarding
        if onboarding is None:
            del self.fields["keeps_qualifications"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        others = self.study.onboardings.filter(name=name)
        if self.onboarding is not None:
            others = others.exclude(pk=self.onboarding.pk)
        if others.exists():
            raise ValidationError(_("Another onboarding in this study already has this name."))
        return name

    def clean_consent(self) -> str:
        text: str = self.cleaned_data["consent"]
        if gaps := list(dict.fromkeys(LEFT_OPEN.findall(text))):
            raise ValidationError(_("Replace %s with your own text.") % ", ".join(gaps))
        return text

    def clean_screening(self) -> list[dict[str, Any]]:
        return read_questions(self.cleaned_data["screening"], purpose="screening")

    def clean_quiz(self) -> list[dict[str, Any]]:
        return read_questions(self.cleaned_data["quiz"], purpose="quiz")

    def clean_survey(self) -> list[dict[str, Any]]:
        return read_questions(self.cleaned_data["survey"], purpose="survey")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        items, right = data.get("qualification", 0), data.get("qualification_right", 0)
        if items and not 1 <= right <= items:
            text = _("Enter a number from 1 to the number of qualification items (%d).")
            self.add_error("qualification_right", text % items)
        newest = self.onboarding.versions.first() if self.onboarding else None
        is_new = data.get("typing") and not (newest and fields_of(newest)["typing"])
        if is_new and data.get("keeps_qualifications"):
            text = _(
                "People have not yet agreed to “Record how texts are typed”, so they must "
                "repeat the steps."
            )
            self.add_error("keeps_qualifications", text)
        if data.get("typing") and not data.get("consent") and "consent" not in self.errors:
            self.add_error("typing", _("Write a consent text, because people must agree to it."))
        for name, wanted in (
            ("quiz_attempts", data.get("quiz")),
            ("qualification_attempts", items),
        ):
            if wanted and data.get(name) == 0:
                self.add_error(name, _("At least 1."))
        return data

    def version_fields(self) -> dict[str, Any]:
        data = self.cleaned_data
        return {
            "text": data["text"],
            "steps": self.steps(),
            "valid_days": data["valid_days"],
            "keeps_qualifications": data.get("keeps_qualifications", False),
        }

    def steps(self) -> list[dict[str, Any]]:
        data = self.cleaned_data
        quiz = {"questions": data["quiz"]}
        if data["quiz"]:
            quiz |= {"attempts": data["quiz_attempts"], "retry_minutes": data["quiz_minutes"]}
        qualification = {
            "items": data["qualification"],
            "right": data["qualification_right"],
            "attempts": data["qualification_attempts"],
            "retry_minutes": data["qualification_minutes"],
        }
        consent = {"text": data["consent"]} | ({"typing": True} if data["typing"] else {})
        wanted = (
            (data["consent"], {"kind": CONSENT, **consent}),
            (data["screening"], {"kind": SCREENING, "questions": data["screening"]}),
            (data["reads"] or data["quiz"], {"kind": READING, **quiz}),
            (data["training"], {"kind": TRAINING, "items": data["training"]}),
            (data["qualification"], {"kind": QUALIFICATION, **qualification}),
            (data["survey"], {"kind": SURVEY, "questions": data["survey"]}),
        )
        return [step for is_wanted, step in wanted if is_wanted]


def fields_of(version: OnboardingVersion) -> dict[str, Any]:
    """Return initial values for the next version, taken from this version."""
    steps = {step["kind"]: step for step in version.steps}
    quiz, qualification = steps.get(READING, {}), steps.get(QUALIFICATION, {})
    fields = {
        "name": version.onboarding.name,
        "text": version.text,
        "consent": steps.get(CONSENT, {}).get("text", ""),
        "typing": steps.get(CONSENT, {}).get("typing", False),
        "screening": questions_text(steps.get(SCREENING, {}).get("questions", ())),
        "reads": READING in steps,
        "quiz": questions_text(quiz.get("questions", ())),
        "training": steps.get(TRAINING, {}).get("items", 0),
        "qualification": qualification.get("items", 0),
        "qualification_right": qualification.get("right", 0),
        "survey": questions_text(steps.get(SURVEY, {}).get("questions", ())),
        "valid_days": version.valid_days,
    }
    if "attempts" in quiz:
        fields |= {"quiz_attempts": quiz["attempts"], "quiz_minutes": quiz["retry_minutes"]}
    if qualification:
        fields["qualification_attempts"] = qualification["attempts"]
        fields["qualification_minutes"] = qualification["retry_minutes"]
    return fields


class GrantForm(forms.Form):
    """A form that admits a person; the reason is stored in the study's history."""

    person = forms.ModelChoiceField(
        label=lazy("Person"), queryset=User.objects.none(), to_field_name="public_id"
    )
    reason = forms.CharField(label=lazy("Reason"), max_length=LONGEST_REASON)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        workers = study.memberships.filter(role__in=WORKERS, is_active=True)
        offer(self, person=User.objects.filter(pk__in=workers.values("user")).order_by("pk"))


class WithdrawForm(forms.Form):
    """A form that ends a qualification; the reason is stored in the study's history."""

    reason = forms.CharField(label=lazy("Reason"), max_length=LONGEST_REASON)
    can_repeat = forms.BooleanField(
        label=lazy("The person can repeat the steps"),
        help_text=lazy("The person repeats all steps except consent, then continues working."),
        required=False,
    )
