"""The format of survey exports: its fields, its recognition, and a sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django import forms
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext, ngettext_lazy

from argsum.datasets.imports.argument_files import GOALS
from argsum.datasets.imports.comment_files import OFFICE, SAMPLE_COMMENTS, SHOPS
from argsum.surveys.methods.roles import PRIVATE, ColumnRole, ProposedRole, Reason, role_problem
from argsum.surveys.models import Survey
from cqa_site.files.actions.files import stored_path
from cqa_site.files.actions.imports import ImportSource, Reconciliation
from cqa_site.files.format_parts import (
    Look,
    ObjectCount,
    Option,
    Sample,
    Text,
    csv_of,
    register_counted,
    register_options,
)
from cqa_site.files.formats import Format, PageLink, register_format
from cqa_site.files.forms import ImportColumnsForm, ImportForm
from .files import (
    KEEP,
    LEAVE_OUT,
    RESPONDENTS,
    SurveyLook,
    look_at,
    look_at_source,
    read_survey,
    roles_of,
    survey_name,
    survey_of,
)
from .reconciliation import SurveyReconciliation

if TYPE_CHECKING:
    from cqa_site.files.models import ImportBatch, ImportFile
    from cqa_site.people.models import Study

ROLES = {
    ColumnRole.OPEN: lazy("Open question"),
    ColumnRole.CLOSED: lazy("Closed question"),
    ColumnRole.SEVERAL: lazy("Several answers in a cell"),
    ColumnRole.OPTION: lazy("Option, chosen or not"),
    ColumnRole.RESPONDENT: lazy("Respondent id"),
    ColumnRole.DATE: lazy("Date (day only)"),
    ColumnRole.LEFT_OUT: lazy("Left out"),
}
REASONS = {
    Reason.PERSONAL: lazy("may identify people"),
    Reason.TIME: lazy("a time may identify people"),
    Reason.TECHNICAL: lazy("counted by the survey program"),
    Reason.EMPTY: lazy("no answers in the first rows"),
    Reason.DIFFERENT: lazy("short answers, all different"),
}
LONGEST_EXAMPLE, LONGEST_LABEL = 60, 120


class SurveyForm(forms.Form):
    """The survey's name and the role of each column."""

    survey = forms.CharField(label=lazy("Survey"), max_length=120)
    unfinished = forms.ChoiceField(
        label=lazy("Unfinished replies"),
        choices=[(KEEP, lazy("include")), (LEAVE_OUT, lazy("leave out"))],
    )

    def __init__(self, *args: Any, proposals: Sequence[ProposedRole], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.proposals = proposals
        self.fields["survey"].help_text = lazy(
            "A new name, or the name of an existing survey to extend."
        )
        for place, proposal in enumerate(proposals):
            self.fields[f"role_{place}"] = forms.ChoiceField(
                label=proposal.column.text[:LONGEST_LABEL],
                choices=list(ROLES.items()),
                help_text=_help_of(proposal),
            )

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the fields by proposed role; columns to leave out are collapsed."""
        headings = {
            lazy("Open questions"): (ColumnRole.OPEN,),
            lazy("Closed questions"): (ColumnRole.CLOSED, ColumnRole.SEVERAL, ColumnRole.OPTION),
            lazy("Respondents"): (ColumnRole.RESPONDENT, ColumnRole.DATE),
            lazy("Left out"): (ColumnRole.LEFT_OUT,),
        }
        grouped = [(str(lazy("Survey")), [self["survey"], self["unfinished"]])]
        for heading, roles in headings.items():
            own = [
                self[f"role_{place}"]
                for place in range(len(self.proposals))
                if self.initial.get(f"role_{place}") in roles
            ]
            text = f"{heading} ({len(own)})"
            grouped += [(text, own)] if own or ColumnRole.LEFT_OUT in roles else []
        return grouped

    def how(self) -> list[forms.BoundField]:
        """Return no additional fields."""
        return []

    @property
    def roles(self) -> dict[str, str]:
        """Chosen roles by column."""
        return {
            proposal.column.header: self.cleaned_data.get(f"role_{place}", "")
            for place, proposal in enumerate(self.proposals)
        }

    def clean(self) -> dict[str, Any]:
        """Check roles that depend on each other."""
        data = super().clean() or {}
        headers = [proposal.column.header for proposal in self.proposals]
        if not self.errors and (problem := role_problem(self.roles, headers)):
            self.add_error(None, problem)
        return data


def _help_of(proposal: ProposedRole) -> str:
    """Return a column's heading (unless it is the text), why it is left out, and examples."""
    column = proposal.column
    parts = [] if column.header == column.text else [column.header[:LONGEST_EXAMPLE]]
    if proposal.reason:
        parts.append(str(REASONS[proposal.reason]))
    if proposal.reason not in PRIVATE:
        parts += [f"“{text[:LONGEST_EXAMPLE]}”" for text in proposal.examples]
    return " · ".join(parts)


class SurveyImportForm(ImportColumnsForm):
    """The import form with the survey's name and its columns."""

    title = lazy("Survey")
    heading = lazy("Survey and columns")

    @cached_property
    def source(self) -> ImportSource:
        """The uploaded file as the import reads it."""
        options = self.file.options | self.seen
        return ImportSource(stored_path(self.file), self.file.name, self.study, options)

    @cached_property
    def look(self) -> SurveyLook:
        """Survey program and proposed roles, from the first rows."""
        return look_at_source(self.source)

    @property
    def columns(self) -> list[str]:
        """Names of the columns to show; columns that may identify people are hidden."""
        private = frozenset(self.look.private)
        return [name for name in self.preview.columns if name not in private]

    def note(self) -> str:
        """Describe what was recognized and what is left out."""
        sentences = [_("Recognized as an export from %s.") % self.look.tool] * bool(self.look.tool)
        if number := len(self.look.private):
            text = ngettext(
                "%s column that may identify people is left out and hidden here.",
                "%s columns that may identify people are left out and hidden here.",
                number,
            )
            sentences.append(text % number)
        return " ".join(sentences)

    def form(self, data: Any) -> SurveyForm:
        """Return the form with chosen, stored or proposed roles."""
        survey = survey_of(self.source, self.look)
        roles = roles_of(self.source, self.look, survey)
        initial = {f"role_{place}": role for place, role in enumerate(roles.values())}
        name = survey_name(self.source, survey)
        initial |= {"survey": name, "unfinished": self.file.options.get("unfinished") or KEEP}
        return SurveyForm(data, proposals=self.look.proposals, initial=initial)

    def options(self, form: Any) -> dict[str, Any]:
        """Return the name, the roles, and the table's reading options."""
        chosen = {name: form.cleaned_data[name] for name in ("survey", "unfinished")}
        return {**chosen, "mapping": form.roles, **self.seen}


NEXT_STEP = lazy("All open questions can be analysed with one click.")


@dataclass(frozen=True)
class SurveyFormat(Format):
    """A file that creates or extends a survey."""

    reconciliation: type[Reconciliation] = SurveyReconciliation
    asks: str = "survey"
    asking: type[ImportForm] | None = SurveyImportForm
    next_step: Text = NEXT_STEP

    def links(self, study: "Study", file: "ImportFile | ImportBatch") -> list[PageLink]:
        """Return the link to the survey."""
        survey = Survey.objects.filter(study=study, name=file.options.get("survey") or "").first()
        if survey is None:
            return [PageLink(lazy("Datasets"), reverse("datasets", args=[study.public_id]))]
        page = reverse("survey", args=[study.public_id, survey.public_id])
        return [PageLink(lazy("Survey"), page)]


# Columns of other formats that have several texts per row.
_ELSEWHERE = {"topic", "argument", "keypoint", "object1", "rater", "filename", "comparison"}
_FEWEST_QUESTIONS, _WORDS_OF_A_QUESTION = 2, 4


def fits_survey(look: Look) -> str:
    """Return why a file fits (it has several open questions), or "" if it does not."""
    if not look.columns or look.bare & _ELSEWHERE or look.has_points:
        return ""
    shown = look_at(look.columns, look.titles, look.rows)
    opened = [
        column
        for column in shown.proposed(ColumnRole.OPEN)
        if shown.tool or len(column.question.split()) >= _WORDS_OF_A_QUESTION
    ]
    if len(opened) < _FEWEST_QUESTIONS:
        return ""
    return _("it has %s open questions answered by the same people") % len(opened)


GOOD, CHANGE = "What do you like about the canteen?", "What should the canteen change?"


def _sample() -> bytes:
    half = len(SAMPLE_COMMENTS) // 2
    rows = [
        (place, SHOPS if place % 2 else OFFICE, "Yes" if place % 3 else "No", good, change)
        for place, ((good, *_g), (change, *_c)) in enumerate(
            zip(SAMPLE_COMMENTS[:half], SAMPLE_COMMENTS[half:], strict=True), start=1
        )
    ]
    columns = ("Respondent ID", "Where do you work?", "Do you eat there daily?", GOOD, CHANGE)
    return csv_of(columns, rows)


def register_survey_imports() -> None:
    """Register the survey import format."""
    respondents = ngettext_lazy("%(shown)s respondent", "%(shown)s respondents", "number")
    register_counted(ObjectCount(RESPONDENTS, lazy("Respondents"), respondents))
    register_options(
        Option(
            "survey",
            longest=120,
            hint="Survey name. Default: the survey with the same questions, else the file name.",
        ),
        Option("unfinished", longest=9, hint="Unfinished replies: keep (default) or leave_out."),
    )
    register_format(
        SurveyFormat(
            "survey",
            lazy("Survey with several questions (Qualtrics, SurveyMonkey, LimeSurvey, CSV, XLSX)"),
            read_survey,
            fits=fits_survey,
            sample=Sample("sample-survey.csv", _sample, {"survey": "Canteen"}, goals=GOALS),
            holds=lazy(
                "One row per respondent. Each open question becomes a dataset; closed questions "
                "form groups. Columns that may identify people are left out by default."
            ),
        )
    )
