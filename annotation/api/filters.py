"""Which query parameters each list knows; StrictFilterBackend refuses all others."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django_filters import rest_framework as filters

from annotation.models import (
    Adjudication,
    Answer,
    Assignment,
    Campaign,
    Corpus,
    EditingRound,
    EditingSheet,
    ExportFile,
    FaithfulnessFigures,
    FinalLabel,
    ImportFile,
    ImportMatch,
    System,
)
from annotation.reports import faithfulness_rows
from cqa_site.rounds.progress import TO_DO
from cqa_site.web.strict_filters import TrueFalseFilter


class ComparisonFilter(filters.FilterSet):
    """Comparisons by an object exactly as written."""

    object1 = filters.CharFilter(max_length=300)
    object2 = filters.CharFilter(max_length=300)


class ArgumentFilter(filters.FilterSet):
    """Arguments of one comparison, or with words in the sentence."""

    comparison = filters.UUIDFilter(field_name="comparison__public_id")
    search = filters.CharFilter(field_name="text", lookup_expr="icontains", max_length=200)


class CorpusFilter(filters.FilterSet):
    """Corpora by state."""

    state = filters.ChoiceFilter(choices=Corpus.State.choices)


class CamRequestFilter(filters.FilterSet):
    """Requests to the CAM service of one comparison."""

    comparison = filters.UUIDFilter(field_name="comparison__public_id")


class CampaignFilter(filters.FilterSet):
    """Campaigns by state and origin."""

    state = filters.ChoiceFilter(choices=Campaign.State.choices)
    origin = filters.ChoiceFilter(choices=Campaign.Origin.choices)


class ItemFilter(filters.FilterSet):
    """Items that are control items or not, of one argument or one comparison."""

    is_control = TrueFalseFilter(field_name="control_label", lookup_expr="isnull", exclude=True)
    argument = filters.UUIDFilter(field_name="argument__public_id")
    comparison = filters.UUIDFilter(field_name="argument__comparison__public_id")


class VoteFilter(filters.FilterSet):
    """Votes by what happened to them."""

    counted = TrueFalseFilter(
        field_name="is_counted", label="Whether the vote enters the figures of the campaign."
    )
    is_extra = TrueFalseFilter()
    is_flagged = TrueFalseFilter()
    state = filters.ChoiceFilter(choices=Assignment.State.choices)
    rater = filters.UUIDFilter(field_name="rater__public_id")
    argument = filters.UUIDFilter(field_name="item__argument__public_id")
    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)


class FinalLabelFilter(filters.FilterSet):
    """Final labels by label and by how clear they are."""

    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)
    provenance = filters.ChoiceFilter(choices=FinalLabel.Provenance.choices)
    is_tied = TrueFalseFilter()
    methods_differ = TrueFalseFilter()
    comparison = filters.UUIDFilter(field_name="argument__comparison__public_id")


class AdjudicationFilter(filters.FilterSet):
    """Decisions that are in force, or that were superseded."""

    in_force = TrueFalseFilter(field_name="superseded_at", lookup_expr="isnull")
    source = filters.ChoiceFilter(choices=Adjudication.Source.choices)


class AdoptionFilter(filters.FilterSet):
    """Adoptions that are in force, or that were withdrawn."""

    in_force = TrueFalseFilter(field_name="withdrawn_at", lookup_expr="isnull")


class SnapshotFilter(filters.FilterSet):
    """Frozen snapshots, or the live one."""

    is_frozen = TrueFalseFilter(field_name="frozen_at", lookup_expr="isnull", exclude=True)


class ExportFilter(filters.FilterSet):
    """Exports by what is in them."""

    content = filters.ChoiceFilter(choices=ExportFile.Content.choices)
    snapshot = filters.UUIDFilter(field_name="snapshot__public_id")


class ImportFilter(filters.FilterSet):
    """Uploaded files by kind, state and the batch they came in."""

    kind = filters.ChoiceFilter(choices=ImportFile.Kind.choices)
    state = filters.ChoiceFilter(choices=ImportFile.State.choices)
    batch = filters.UUIDFilter(field_name="batch__public_id")


class ImportBatchFilter(filters.FilterSet):
    """Uploads of many files by kind."""

    kind = filters.ChoiceFilter(choices=ImportFile.Kind.choices)


class ProblemFilter(filters.FilterSet):
    """Rows that were rejected, or only flagged."""

    is_rejection = TrueFalseFilter()


class MatchFilter(filters.FilterSet):
    """Near matches by what was said about them; ``is_decided`` finds those that wait."""

    decision = filters.ChoiceFilter(choices=ImportMatch.Decision.choices)
    is_decided = TrueFalseFilter(method="by_decided")

    def by_decided(self, rows: QuerySet, _name: str, value: bool) -> QuerySet:
        """Only those somebody has spoken about, or only the others."""
        return rows.exclude(decision="") if value else rows.filter(decision="")


class JudgeLabelFilter(filters.FilterSet):
    """Labels of a run by argument, label, reason and replicate."""

    argument = filters.UUIDFilter(field_name="argument__public_id")
    label = filters.NumberFilter(min_value=0, max_value=9, decimal_places=0)
    is_unscored = TrueFalseFilter(field_name="label", lookup_expr="isnull")
    reason = filters.CharFilter(max_length=40)
    replicate = filters.NumberFilter(min_value=0, max_value=999, decimal_places=0)


class QuestionFilter(filters.FilterSet):
    """Questions about one comparison, by aspect, or answered by one system."""

    comparison = filters.UUIDFilter(field_name="comparison__public_id")
    aspect = filters.CharFilter(max_length=300)
    system = filters.UUIDFilter(method="answered_by")

    def answered_by(self, questions: QuerySet, name: str, system: UUID) -> QuerySet:
        """A subquery: a join would multiply the numbers of answers."""
        answers = Answer.objects.filter(system__public_id=system)
        return questions.filter(pk__in=answers.values("question"))


class ConditionFilter(filters.FilterSet):
    """Conditions of one scenario, plain ones or not."""

    scenario = filters.ChoiceFilter(choices=Answer.Scenario.choices)
    is_plain = TrueFalseFilter()


class SystemFilter(filters.FilterSet):
    """Systems by what they are."""

    kind = filters.ChoiceFilter(choices=System.Kind.choices)


class AnswerFilter(filters.FilterSet):
    """Answers to one question, of one system, scenario, condition, choice, run or file."""

    question = filters.UUIDFilter(field_name="question__public_id")
    system = filters.UUIDFilter(field_name="system__public_id")
    scenario = filters.ChoiceFilter(choices=Answer.Scenario.choices)
    condition = filters.UUIDFilter(field_name="condition__public_id")
    is_plain = TrueFalseFilter(field_name="condition__is_plain")
    choice = filters.NumberFilter(min_value=1, max_value=32_767, decimal_places=0)
    run = filters.UUIDFilter(field_name="run__public_id")
    source = filters.CharFilter(max_length=255)
    editing_round = filters.UUIDFilter(field_name="revision__sheet__round__public_id")
    edited_from = filters.UUIDFilter(field_name="revision__sheet__answer__public_id")


class LabelSetFilter(filters.CharFilter):
    """The id of a campaign, or "newest"; the view refuses any other text."""


class FiguresFilter(filters.FilterSet):
    """Figures of texts by mode, system and scenario, of answers as written or edited.

    The values are only judged here: which texts there are depends on several of them together.
    """

    mode = filters.ChoiceFilter(choices=FaithfulnessFigures.Mode.choices, method="applied")
    texts = filters.ChoiceFilter(
        choices=[("answers", "as written"), ("edited", "by experts")], method="applied"
    )
    system = filters.UUIDFilter(method="applied")
    scenario = filters.ChoiceFilter(choices=Answer.Scenario.choices, method="applied")
    condition = filters.UUIDFilter(method="applied")
    problem = filters.ChoiceFilter(
        choices=[(name, name) for name in faithfulness_rows.PROBLEMS], method="applied"
    )
    sort = filters.ChoiceFilter(
        choices=[(sign + name, name) for name in faithfulness_rows.SORTED for sign in ("", "-")],
        method="applied",
    )
    run = filters.UUIDFilter(method="applied")
    labels = LabelSetFilter(method="applied")

    def applied(self, figures: QuerySet, name: str, value: Any) -> QuerySet:
        """The view's rows are chosen by these values already."""
        return figures


class VerdictFilter(filters.FilterSet):
    """Verdicts by answer, condition, cited number, what was said, reason and replicate."""

    answer = filters.UUIDFilter(field_name="answer__public_id")
    condition = filters.UUIDFilter(field_name="answer__condition__public_id")
    number = filters.NumberFilter(min_value=0, max_value=9_999, decimal_places=0)
    is_coherent = TrueFalseFilter()
    is_unscored = TrueFalseFilter(field_name="is_coherent", lookup_expr="isnull")
    is_edited = TrueFalseFilter(field_name="revision", lookup_expr="isnull", exclude=True)
    reason = filters.CharFilter(max_length=40)
    replicate = filters.NumberFilter(min_value=0, max_value=999, decimal_places=0)


class EditingRoundFilter(filters.FilterSet):
    """Editing rounds by state."""

    state = filters.ChoiceFilter(choices=EditingRound.State.choices)


class EditingTaskFilter(filters.FilterSet):
    """Tasks of one expert, about one answer, in one state, for calibration or not."""

    editor = filters.UUIDFilter(field_name="rater__user__public_id")
    answer = filters.UUIDFilter(field_name="answer__public_id")
    state = filters.ChoiceFilter(choices=EditingSheet.Progress.choices, method="in_state")
    is_calibration = TrueFalseFilter()

    def in_state(self, sheets: QuerySet, name: str, value: str) -> QuerySet:
        """A change after submitting makes a task one to do again."""
        return sheets.filter(TO_DO if value == EditingSheet.Progress.OPEN else ~TO_DO)


class RevisionFilter(filters.FilterSet):
    """Revisions of one task, expert or answer, of calibration answers or not."""

    task = filters.UUIDFilter(field_name="sheet__public_id")
    editor = filters.UUIDFilter(field_name="sheet__rater__user__public_id")
    answer = filters.UUIDFilter(field_name="sheet__answer__public_id")
    is_calibration = TrueFalseFilter(field_name="sheet__is_calibration")


class RoundCommentFilter(filters.FilterSet):
    """Comments on one answer."""

    answer = filters.UUIDFilter(field_name="answer__public_id")
