"""Forms for questions, systems and answers; fields for labels and conditions."""

from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.answers.models import ALL, NEWEST, Answer, Condition, System, used_conditions
from annotation.answers.reports import labelled_rounds, labels_name
from annotation.corpus.models import Comparison, Question
from cqa_site.people.models import Study
from cqa_site.web.pages import offer


class LabelsField(forms.ChoiceField):
    """Choice of labels: the study's choice, one round's labels or each sentence's newest label."""

    # Length of an id, and the help text of the field in the API.
    longest = 36
    sent = "The id of a round, or “newest”. Empty for the study's choice."

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {"label": lazy("Labels from"), "required": False}
        super().__init__(**usual | kwargs)


def label_choices(study: Study) -> list[tuple[str, str]]:
    """Return the choices of labels as (value, name), the study's own choice first."""
    named = [
        (str(label_round.public_id), label_round.name) for label_round in labelled_rounds(study)
    ]
    return [
        ("", _("Study default: %s") % labels_name(study)),
        *named,
        (NEWEST, _("Newest label of each sentence")),
    ]


# Choice of systems, scenarios and conditions; by default all, but only plain conditions

ALL_MEANT = lazy("Leave empty for all.")
PLAIN_ONLY = lazy("Plain only")
MIXED = lazy("All conditions, mixed")


class SystemsField(forms.ModelMultipleChoiceField):
    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {
            "label": lazy("Systems"),
            "required": False,
            "help_text": ALL_MEANT,
        }
        super().__init__(System.objects.none(), **usual | kwargs)


class ScenariosField(forms.TypedMultipleChoiceField):
    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {
            "label": lazy("Scenarios"),
            "required": False,
            "help_text": ALL_MEANT,
        }
        super().__init__(choices=Answer.Scenario.choices, coerce=int, **usual | kwargs)


class ConditionsField(forms.MultipleChoiceField):
    """Selection of some or all conditions of a study."""

    widget = forms.CheckboxSelectMultiple
    # Length of an id, and the help text of the field in the API.
    longest = 36
    sent = "The ids of conditions, or “all”."

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {
            "label": lazy("Conditions"),
            "required": False,
            "help_text": lazy(
                "Leave empty for plain answers only. Answers written with filtered arguments "
                "or from part of the question are then left out, because figures for a mixture "
                "describe neither kind."
            ),
        }
        super().__init__(**usual | kwargs)


class ConditionField(forms.ChoiceField):
    """Choice of one condition of a study, of the plain conditions, or of all conditions."""

    longest = 36
    sent = "The id of a condition, or “all”. Empty for plain conditions."

    def __init__(self, **kwargs) -> None:
        usual: dict[str, Any] = {"label": lazy("Condition"), "required": False}
        super().__init__(**usual | kwargs)


def condition_choices(study: Study) -> list[tuple[str, Any]]:
    """Return the study's conditions, with a choice for all conditions."""
    return [
        *((str(condition.public_id), condition.name) for condition in used_conditions(study)),
        (ALL, MIXED),
    ]


def one_condition(study: Study) -> list[tuple[str, Any]]:
    """Return a choice for the plain conditions, and a choice for each condition."""
    return [("", PLAIN_ONLY), *condition_choices(study)]


WITHOUT_ASPECT = "-"
MOST_ASPECTS = 500


class QuestionSearchForm(forms.Form):
    """Search form for a study's questions; blind readers cannot filter by system or condition."""

    q = forms.CharField(label=lazy("Question contains"), required=False, max_length=200)
    comparison = forms.ModelChoiceField(
        label=lazy("Comparison"),
        required=False,
        queryset=Comparison.objects.none(),
        to_field_name="public_id",
        empty_label=lazy("All comparisons"),
    )
    aspect = forms.ChoiceField(label=lazy("Aspect"), required=False)
    system = forms.ModelChoiceField(
        label=lazy("Answered by"),
        required=False,
        queryset=System.objects.none(),
        to_field_name="public_id",
        empty_label=lazy("Anybody"),
    )
    condition = forms.ModelChoiceField(
        label=lazy("Condition"),
        required=False,
        queryset=Condition.objects.none(),
        to_field_name="public_id",
        empty_label=lazy("Any"),
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
        """Return whether any search criterion is set."""
        return self.is_bound and any(self.data.get(name) for name in self.fields)


def _aspects(study: Study) -> list[tuple[str, Any]]:
    named = study.questions.exclude(aspect="").order_by("aspect").values_list("aspect", flat=True)
    questions = named.distinct()[:MOST_ASPECTS]
    # A prefix distinguishes an aspect named "-" from the choice "without aspect".
    marked = [(f"={aspect}", aspect) for aspect in questions]
    return [
        ("", lazy("With or without an aspect")),
        (WITHOUT_ASPECT, lazy("Without an aspect")),
        *marked,
    ]


class AnswerFilterForm(forms.Form):
    """Filter for the answers shown side by side, with a choice to hide the systems' names."""

    system = forms.ModelChoiceField(
        label=lazy("System"),
        required=False,
        queryset=System.objects.none(),
        to_field_name="public_id",
        empty_label=lazy("All"),
    )
    scenario = forms.TypedChoiceField(
        label=lazy("Scenario"),
        required=False,
        choices=[("", lazy("All")), *Answer.Scenario.choices],
        coerce=int,
        empty_value=None,
    )
    condition = forms.ModelChoiceField(
        label=lazy("Condition"),
        required=False,
        queryset=Condition.objects.none(),
        to_field_name="public_id",
        empty_label=lazy("All"),
    )
    choice = forms.IntegerField(
        label=lazy("Choice"), required=False, min_value=1, max_value=32_767
    )
    blind = forms.BooleanField(label=lazy("Hide authors"), required=False)

    def __init__(self, *args, question: Question, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        answered = System.objects.filter(answers__question=question).distinct()
        offer(self, system=answered)
        used = Condition.objects.filter(answers__question=question).distinct()
        offer(self, condition=used)


class QuestionForm(forms.Form):
    """Form for a question about a comparison of the study."""

    comparison = forms.ModelChoiceField(
        label=lazy("Comparison"), queryset=Comparison.objects.none(), to_field_name="public_id"
    )
    aspect = forms.CharField(
        label=lazy("Aspect"),
        required=False,
        max_length=300,
        help_text=lazy("Optional. The aspect to compare, such as “price”."),
    )
    wording = forms.CharField(
        label=lazy("Question wording"),
        required=False,
        max_length=500,
        help_text=lazy("Leave empty to ask which object is better."),
    )

    def __init__(self, *args, study: Study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, comparison=study.comparisons.all())


class QuestionListForm(forms.Form):
    """Form for many questions at once, from a file or typed text."""

    file = forms.FileField(label=lazy("File"), required=False, max_length=255)
    pasted = forms.CharField(
        label=lazy("Or paste questions"),
        required=False,
        max_length=200_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=lazy(
            "One question per line: “tea vs coffee”, or objects, aspect and wording copied "
            "from a spreadsheet, with or without a header row."
        ),
    )

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = lazy(
            "CSV, TSV, JSON Lines or XLSX with the columns object1, object2 and, optionally, "
            "aspect, wording and any number of columns that begin with “argument”; up to %s."
        ) % filesizeformat(settings.MAX_UPLOAD_BYTES)
        self.fields["file"].widget.attrs["accept"] = ".csv,.tsv,.json,.jsonl,.ndjson,.xlsx"

    def clean(self) -> dict:
        """Require either a file or a text."""
        data = super().clean() or {}
        if not self.errors and bool(data.get("file")) == bool(data["pasted"].strip()):
            self.add_error(None, lazy("Choose a file or paste a list, not both."))
        return data


class SystemForm(forms.Form):
    name = forms.CharField(label=lazy("Name"), max_length=120)
    kind = forms.ChoiceField(
        label=lazy("Kind"),
        choices=System.Kind.choices,
        help_text=lazy("Experts never see texts written by people alongside the texts they edit."),
    )
