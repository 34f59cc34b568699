"""Analyses and their edits, page filters, runs that write key points, and encoders."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange, WrittenPoint
from argsum.analysis.reports.voices import COMMENTS
from argsum.datasets.models import Cell, Comment, CommentStatement
from argsum.datasets.reports.comments import NAMES, HasValue
from argsum.scorers.methods.encoders import MOST_STATEMENTS, SHIPPED
from argsum.scorers.models import SHIPPED_MATCH, Scorer
from cqa_site.judging.embedding import PACKAGED_MODEL
from cqa_site.judging.encoders import ENCODERS, MPNET, SentenceEncoder, encoder_for
from cqa_site.people.models import Study
from cqa_site.runs.kinds import CallSubjects, RequestItem, Subject, Titles
from cqa_site.runs.models import Call, Run

MADE_FOR_ENGLISH = (PACKAGED_MODEL, SHIPPED_MATCH)


def analyses_of(study: Study) -> QuerySet[Analysis]:
    """Return analyses, newest first, with the related rows for their pages."""
    return study.analyses.select_related(
        "study", "cell__dataset", "match_scorer", "quality_scorer", "job", "created_by"
    ).order_by("-number")


def listed(rows: QuerySet[Analysis]) -> QuerySet[Analysis]:
    """Annotate analyses with the counts of shown and proposed key points."""
    return rows.annotate(
        points_shown=_counted(FoundPoint.State.SHOWN),
        points_proposed=_counted(FoundPoint.State.PROPOSED),
    )


def _counted(state: str) -> Coalesce:
    rows = FoundPoint.objects.filter(analysis=OuterRef("pk"), state=state).order_by()
    counted = rows.values("analysis").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def changes_of(analysis: Analysis) -> QuerySet[PointChange]:
    """Return edits, newest first, without the changed values."""
    rows = analysis.changes.select_related("actor", "point", "undone_by", "run")
    return rows.defer("before", "after", "undone_by__before", "undone_by__after", "run__spec")


def edits_since(analysis: Analysis, revision: int) -> int:
    """Return the number of edits after a revision, not counting placements of new comments."""
    later = analysis.changes.filter(revision__gt=revision)
    return later.exclude(verb=PointChange.Verb.PLACED).count()


def foreign_language(analysis: Analysis) -> str:
    """Return the language of the comments, or "" if the match scorer supports it."""
    scorer: Scorer = analysis.match_scorer
    if analysis.language in ("", "en") or scorer.base_model not in MADE_FOR_ENGLISH:
        return ""
    encoder = ENCODERS.get(analysis.options.get("encoder", ""))
    if encoder is not None and analysis.language in encoder.languages:
        return ""
    return str(NAMES.get(analysis.language, analysis.language))


def has_comments(cell: Cell) -> bool:
    """Return whether statements come from comments. If not, each statement counts as a comment."""
    return cell.comments.exists()


@dataclass(frozen=True)
class StatementSearch:
    """A filter for statements: their text, and a column value and the period of their comments.

    ``query`` is the URL query for the filter and the counted ``unit``.
    """

    search: str = ""
    column: str = ""
    value: str = ""
    first: date | None = None
    last: date | None = None
    asked: tuple[tuple[str, str], ...] = ()
    unit: str = COMMENTS

    @property
    def is_on(self) -> bool:
        """Whether any filter is set."""
        return bool(self.search or self.is_about_comments)

    @property
    def is_about_comments(self) -> bool:
        """Whether the filter uses columns or dates of comments."""
        return bool(self.column or self.first or self.last)

    @property
    def query(self) -> str:
        """URL query of the filters, without a page number."""
        return urlencode([(name, value) for name, value in self.asked if value])

    def comments_of(self, cell: Cell) -> QuerySet[Comment]:
        """Return the comments of a cell that match the value and the dates."""
        return Comment.objects.filter(self._of_comments(""), cell=cell).order_by()

    def of_statements(self, rows: QuerySet[Placement]) -> QuerySet[Placement]:
        """Return placements of statements that match the filters."""
        if self.search:
            rows = rows.filter(argument__text__icontains=self.search)
        if self.is_about_comments:
            rows = rows.filter(Exists(self.sayings(argument=OuterRef("argument"))))
        return rows

    def sayings(self, **about: Any) -> QuerySet[CommentStatement]:
        """Return the occurrences of statements in matching comments."""
        return CommentStatement.objects.filter(self._of_comments("comment__"), **about).order_by()

    def _of_comments(self, path: str) -> Q:
        comments = Q()
        if self.column:
            comments &= Q(HasValue(f"{path}attributes", self.column, self.value))
        if self.first:
            comments &= Q(**{f"{path}written_on__gte": self.first})
        if self.last:
            comments &= Q(**{f"{path}written_on__lte": self.last})
        return comments


Verdict = WrittenPoint.Verdict


class AnalysisCallKey(NamedTuple):
    """Keys of a request: key point, attempt, revision and statements."""

    point: int
    attempt: int
    seen: int
    statements: tuple[int, ...]

    @classmethod
    def of(cls, ids: Sequence[int]) -> "AnalysisCallKey":
        """Read the keys from a request's row."""
        point, attempt, seen, *statements = ids
        return cls(point, attempt, seen, tuple(statements))

    @property
    def subject(self) -> Subject:
        """Subject for the engine, with a name that is unique in a run."""
        ids = (self.point, self.attempt, self.seen, *self.statements)
        return Subject(f"p{self.point}-{self.attempt}", ids)

    @property
    def again(self) -> "AnalysisCallKey":
        """Key of the next attempt for the same statements."""
        return self._replace(attempt=self.attempt + 1)


@dataclass(frozen=True)
class PointOutcomes:
    """Counts of key points in a run, by outcome.

    ``kept`` counts those that did not change: ``refused`` because the written text was nearer to
    another key point, and ``unusable`` because no reply could be used. ``changed`` were edited by
    somebody in the meantime, and ``unchecked`` have not been checked yet.
    """

    run: Run
    written: int
    same: int
    refused: int
    unusable: int
    changed: int
    unchecked: int

    @property
    def kept(self) -> int:
        """Number of key points that kept their text."""
        return self.same + self.refused + self.unusable

    @property
    def points(self) -> int:
        """Number of key points requested."""
        return self.written + self.kept + self.changed + self.unchecked


def writing_of(run: Run) -> PointOutcomes:
    """Return the outcomes of a run's key points, by their last attempts, using one query."""
    rows = WrittenPoint.objects.filter(run=run).order_by("attempt")
    # If the analysis was deleted, only the request identifies the key point.
    last = {
        point or -call: verdict if text else ""
        for point, call, verdict, text in rows.values_list("point", "call", "verdict", "text")
    }
    verdicts = list(last.values())
    return PointOutcomes(
        run,
        written=verdicts.count(Verdict.TAKEN),
        same=verdicts.count(Verdict.SAME),
        refused=verdicts.count(Verdict.REFUSED),
        unusable=verdicts.count(""),
        changed=verdicts.count(Verdict.CHANGED),
        unchecked=verdicts.count(Verdict.UNCHECKED),
    )


def writer_in_words(point: FoundPoint) -> str:
    """Return the language model and prompt that wrote a key point, or an empty string."""
    return in_words(point.writer) if point.writer else ""


def in_words(run: Run) -> str:
    """Name the language model and prompt for citation."""
    values = {"model": run.spec["model"], "n": run.prompt.number}
    return _("%(model)s, prompt v%(n)d") % values


def coder_in_words(analysis: Analysis) -> str:
    """Name the language model that last assigned statements, or return "" if that was undone."""
    changes = analysis.changes.filter(verb=PointChange.Verb.CODED, undone_by=None)
    change = changes.defer("before", "after").select_related("run__prompt").first()
    return in_words(change.run) if change and change.run else ""


def writers_of(points: QuerySet[FoundPoint]) -> dict[str, int]:
    """Count key points by the model and prompt that wrote them, largest count first."""
    grouped = points.exclude(writer=None).order_by().values_list("writer")
    numbers = dict(grouped.annotate(n=Count("pk")))
    counts: dict[str, int] = {}
    for run in Run.objects.filter(pk__in=numbers).select_related("prompt"):
        words = in_words(run)
        counts[words] = counts.get(words, 0) + numbers[run.pk]
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def analysis_of_run(run: Run) -> Analysis | None:
    """Return the analysis to which a run belongs, or None if the analysis was deleted."""
    return run.study.analyses.filter(public_id=run.spec["target"]["analysis"]).first()


def about(run: Run) -> str:
    """Return the name of the analysis to which a run belongs."""
    analysis = analysis_of_run(run)
    return analysis.name if analysis else _("a deleted analysis")


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    key = {call.pk: AnalysisCallKey.of(call.subject_ids) for call in calls}
    rows = FoundPoint.objects.filter(analysis__study=study)
    points = rows.in_bulk({question.point for question in key.values()})
    written = WrittenPoint.objects.filter(call__in=list(key))
    replies = {row.call_id: row for row in written}
    return {
        pk: [_item(points.get(question.point), question, replies.get(pk))]
        for pk, question in key.items()
    }


def _item(
    point: FoundPoint | None, key: AnalysisCallKey, row: WrittenPoint | None
) -> RequestItem | None:
    if point is None:
        return None
    context = _("attempt %d") % key.attempt
    if row is None:
        return RequestItem(point.written, context)
    note = str(row.get_verdict_display()) if row.text else ""
    if row.nearest:
        note = f"{note}: {row.nearest}"
    return RequestItem(point.written, context, row.text, row.note or note, row.reason)


POINT_CALLS = CallSubjects(
    Titles(lazy("Original key point"), lazy("Text written"), lazy("Outcome")), _items
)


def theme_names(analysis: Analysis) -> list[str]:
    """Return the theme names of key points not merged or removed, in order, using one query."""
    rows = analysis.points.filter(state__in=FoundPoint.ALIVE).exclude(theme="").order_by("theme")
    return list(rows.values_list("theme", flat=True).distinct())


# The encoder of an analysis in words: its name, the reason, and a better one.


@dataclass(frozen=True)
class AnalysisEncoder:
    """Name of the encoder and the reason for it; both are empty if the scorer has its own encoder.

    ``better`` is an unused encoder that supports the language of the comments, or None.
    """

    name: str = ""
    title: str = ""
    why: str = ""
    better: SentenceEncoder | None = None


def encoder_of(analysis: Analysis) -> AnalysisEncoder:
    """Return the encoder of an analysis."""
    if not (name := str(analysis.options.get("encoder", ""))):
        return AnalysisEncoder()
    better = encoder_for(analysis.language)
    reason = str(analysis.options.get("encoder_reason", ""))
    return AnalysisEncoder(
        name=name,
        title=_title(name),
        why=_why(name, reason, str(NAMES.get(analysis.language, ""))),
        better=None if better is None or better.name in (name, MPNET) else better,
    )


def _title(name: str) -> str:
    if name == SHIPPED:
        return _("the match scorer’s own (%s, trained further)") % PACKAGED_MODEL
    encoder = ENCODERS.get(name)
    title = encoder.title if encoder else name
    return _("the match scorer’s own and %s") % title if name == MPNET else title


def _why(name: str, reason: str, language: str) -> str:
    """Return the reason for the encoder as one sentence."""
    language = language or _("an unknown language")
    if reason == "asked":
        return _("It was chosen when the analysis was started.")
    if name == MPNET:
        return _("The comments are in English; each score is the mean of both encoders’ scores.")
    if reason == "language":
        why = _(
            "The comments are in %s, a language that the match scorer does not support. "
            "This encoder separates praise from complaints less well."
        )
        return why % language
    if reason == "many":
        return _("There are more than %s statements, too many for a larger, slower encoder.") % (
            f"{MOST_STATEMENTS:,}"
        )
    if reason == "debate":
        return _(
            "All comments are on one side of a debate, as in the match scorer’s training data."
        )
    if reason == "missing":
        return _("No other encoder for %s was installed.") % language
    return _("There is no other encoder for %s.") % language
