"""Forms for questions, systems and answers, and fields for conditions."""

from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext_lazy as _

from annotation.answers.models import Answer, Condition, System
from annotation.answers.reports import ALL, used_conditions
from annotation.corpus.models import Comparison, Question
from cqa_site.people.models import Study
from cqa_site.web.pages import offer

# Choosing systems, scenarios and conditions; without a choice, all, but plain conditions only.


ALL_MEANT = _("Leave empty for all.")
PLAIN_ONLY = _("Plain only")
MIXED = _("All, mixed")


class SystemsField(forms.ModelMultipleChoiceField):
    """Selection of systems of a study."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {"label": _("Systems"), "required": False, "help_text": ALL_MEANT}
        super().__init__(System.objects.none(), **usual | kwargs)


class ScenariosField(forms.TypedMultipleChoiceField):
    """Selection of scenarios, as numbers."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {
            "label": _("Scenarios"),
            "required": False,
            "help_text": ALL_MEANT,
        }
        super().__init__(choices=Answer.Scenario.choices, coerce=int, **usual | kwargs)


class ConditionsField(forms.MultipleChoiceField):
    """Selection of conditions of a study, or all of them."""

    widget = forms.CheckboxSelectMultiple
    # Of ids; and what a program sends.
    longest = 36
    sent = "The ids of conditions, or all."

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {
            "label": _("Only conditions"),
            "required": False,
            "help_text": _(
                "Leave empty for plain answers only. Answers written with argument filters or "
                "with less of the question are left out, because figures for a mix say nothing "
                "about either."
            ),
        }
        super().__init__(**usual | kwargs)


class ConditionField(forms.ChoiceField):
    """Choice of one condition of a study, the plain ones, or all."""

    longest = 36
    sent = "The id of a condition, or all; empty for the plain ones."

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {"label": _("Only condition"), "required": False}
        super().__init__(**usual | kwargs)


def condition_choices(study: Study) -> list[tuple[str, Any]]:
    """Return the study's conditions, and a choice for all of them."""
    return [
        *((str(condition.public_id), condition.name) for condition in used_conditions(study)),
        (ALL, MIXED),
    ]


def one_condition(study: Study) -> list[tuple[str, Any]]:
    """Return a choice for the plain conditions, and one for each condition."""
    return [("", PLAIN_ONLY), *condition_choices(study)]


WITHOUT_ASPECT = "-"
MOST_ASPECTS = 500


class QuestionSearchForm(forms.Form):
    """Search among a study's questions; without access to systems, it has no system filter."""

    q = forms.CharField(label=_("Question contains"), required=False, max_length=200)
    comparison = forms.ModelChoiceField(
        label=_("Comparison"),
        required=False,
        queryset=Comparison.objects.none(),
        to_field_name="public_id",
        empty_label=_("All comparisons"),
    )
    aspect = forms.ChoiceField(label=_("Aspect"), required=False)
    system = forms.ModelChoiceField(
        label=_("Answered by"),
        required=False,
        queryset=System.objects.none(),
        to_field_name="public_id",
        empty_label=_("Anybody"),
    )
    condition = forms.ModelChoiceField(
        label=_("Under condition"),
        required=False,
        queryset=Condition.objects.none(),
        to_field_name="public_id",
        empty_label=_("Any"),
    )

    def __init__(self, *args, study: Study, is_blind: bool, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, comparison=study.comparisons.all(), aspect=_aspects(study))
        if is_blind:
            del self.fields["system"], self.fields["condition"]
        else:
            offer(self, system=study.systems.all(), condition=used_conditions(study))

    @property
    def is_used(self) -> bool:
        """Whether any search criterion is set."""
        return self.is_bound and any(self.data.get(name) for name in self.fields)


def _aspects(study: Study) -> list[tuple[str, Any]]:
    named = study.questions.exclude(aspect="").order_by("aspect").values_list("aspect", flat=True)
    questions = named.distinct()[:MOST_ASPECTS]
    # With a mark before it, so that an aspect named "-" is not "without".
    marked = [(f"={aspect}", aspect) for aspect in questions]
    return [("", _("Any or none")), (WITHOUT_ASPECT, _("Without aspect")), *marked]


class AnswerFilterForm(forms.Form):
    """Filter for the answers shown side by side, and whether their systems are named."""

    system = forms.ModelChoiceField(
        label=_("System"),
        required=False,
        queryset=System.objects.none(),
        to_field_name="public_id",
        empty_label=_("All"),
    )
    scenario = forms.TypedChoiceField(
        label=_("Scenario"),
        required=False,
        choices=[("", _("All")), *Answer.Scenario.choices],
        coerce=int,
        empty_value=None,
    )
    condition = forms.ModelChoiceField(
        label=_("Condition"),
        required=False,
        queryset=Condition.objects.none(),
        to_field_name="public_id",
        empty_label=_("All"),
    )
    choice = forms.IntegerField(label=_("Choice"), required=False, min_value=1, max_value=32_767)
    blind = forms.BooleanField(label=_("Hide authors"), required=False)

    def __init__(self, *args, question: Question, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        answered = System.objects.filter(answers__question=question).distinct()
        offer(self, system=answered)
        used = Condition.objects.filter(answers__question=question).distinct()
        offer(self, condition=used)


class QuestionForm(forms.Form):
    """Form for a question about a comparison of the study."""

    comparison = forms.ModelChoiceField(
        label=_("Comparison"), queryset=Comparison.objects.none(), to_field_name="public_id"
    )
    aspect = forms.CharField(
        label=_("Aspect"),
        required=False,
        max_length=300,
        help_text=_("Optional. What to compare the objects by, such as “price”."),
    )
    wording = forms.CharField(
        label=_("Own wording"),
        required=False,
        max_length=500,
        help_text=_("If empty: which is better, one object or the other?"),
    )

    def __init__(self, *args, study: Study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, comparison=study.comparisons.all())


class QuestionListForm(forms.Form):
    """Form for many questions at once, from a file or typed text."""

    file = forms.FileField(label=_("File"), required=False, max_length=255)
    pasted = forms.CharField(
        label=_("Or paste questions"),
        required=False,
        max_length=200_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=_(
            "One question per line: “tea vs coffee”, or objects, aspect and wording as "
            "copied from a spreadsheet, with or without headers."
        ),
    )

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = _(
            "CSV, TSV, JSON Lines or XLSX with the columns object1, object2 and, optionally, "
            "aspect, wording and any number of columns that begin with “argument”; up to %s."
        ) % filesizeformat(settings.MAX_UPLOAD_BYTES)
        self.fields["file"].widget.attrs["accept"] = ".csv,.tsv,.json,.jsonl,.ndjson,.xlsx"

    def clean(self) -> dict:
        """Require either a file or a text."""
        data = super().clean() or {}
        if not self.errors and bool(data.get("file")) == bool(data["pasted"].strip()):
            self.add_error(None, _("Choose a file or paste a list, not both."))
        return data


class SystemForm(forms.Form):
    """Form for the name and kind of a system."""

    name = forms.CharField(label=_("Name"), max_length=120)
    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=System.Kind.choices,
        help_text=_("Experts never see texts written by people alongside those they edit."),
    )
