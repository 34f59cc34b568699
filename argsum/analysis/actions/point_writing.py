"""Key points of an analysis written by a language model: what a run of this kind asks and keeps.

What a request shows stands in its own row: the key point, which attempt it is, and the statements.
So people go on editing while a run is under way. Whether a text fits is looked at by a job, once
all requests are over; see `point_checking`.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import F, Model, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from argsum.analysis.models import Analysis, FoundPoint, Placement, WrittenPoint
from argsum.analysis.reports.points import BEST_FIRST
from argsum.analysis.reports.written import Asked
from argsum.datasets.models import CellArgument
from argsum.writing.methods.written_key_points import read_one
from cqa_site.judging.extraction import Unscored
from cqa_site.judging.parsing import ReplyNotUsable
from cqa_site.people.models import Study
from cqa_site.runs.actions.runs import RunRefused
from cqa_site.runs.kind_parts import Previewed
from cqa_site.runs.kinds import Ended, Question, Reading, Subject
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from cqa_site.runs.one_row import check_rows

from .point_prompts import Refused, write_request
from .starting import CHECK, enqueue_for, is_at_work, writing_now

KIND = "point_writing"
WORDS, STATEMENTS = 15, 30
# A text of more than so many times the words asked for is no key point; the first version took it.
TOO_LONG, READER_VERSION = 2, 2
# How often a key point is asked for, the first time included.
ATTEMPTS = 3
State, Origin = FoundPoint.State, FoundPoint.Origin
KEPT = ["point", "attempt", "text", "reason", "fence"]


def target_of(
    analysis: Analysis, *, words: int = WORDS, most_statements: int = STATEMENTS
) -> dict[str, Any]:
    """What a run is about, as its spec keeps it.

    ``words`` are the most that a key point has, ``most_statements`` those that a request shows.
    """
    return {
        "analysis": str(analysis.public_id),
        "words": words,
        "most_statements": most_statements,
    }


def writable_points(analysis: Analysis) -> QuerySet[FoundPoint]:
    """Key points that a machine found or a language model wrote, and nobody named since."""
    by_machine = Q(text=F("written")) | Q(writer__isnull=False)
    rows = analysis.points.filter(
        by_machine, state=State.SHOWN, origin__in=[Origin.FOUND, Origin.PROPOSED], statements__gt=0
    )
    return rows.order_by("-comments", "position")


class PointWritingKind:
    """What the engine asks this app about runs of the kind ``point_writing``."""

    parser_version = READER_VERSION
    values_title = lazy("Words in a key point:")
    dominance = None

    def begin(self, run: Run) -> None:
        """Tie the run to its analysis; raises RunRefused where nothing can be written now."""
        found = Analysis.objects.select_for_update(of=("self",)).select_related("writing")
        analysis = found.get(study=run.study, public_id=run.spec["target"]["analysis"])
        refuse_unfit(analysis, run)
        Analysis.objects.filter(pk=analysis.pk).update(writing=run)

    def subjects(self, run: Run) -> list[Subject]:
        """Key points, those of most comments first, each with its best statements."""
        analysis = run.study.analyses.get(public_id=run.spec["target"]["analysis"])
        points = list(writable_points(analysis).values_list("pk", "revision"))
        best = _best(analysis, [pk for pk, _seen in points], run.spec["target"])
        return [Asked(pk, 1, seen, tuple(best[pk])).subject for pk, seen in points if pk in best]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[Question]:
        """Write the requests; two queries."""
        asked = [Asked.of(subject.ids) for subject in subjects]
        wanted = {key for each in asked for key in each.statements}
        rows = CellArgument.objects.select_related("cell").filter(
            cell__dataset__study=run.study_id
        )
        found = rows.in_bulk(wanted)
        refused = _refused(run, [each for each in asked if each.attempt > 1])
        target = run.spec["target"]
        requests = []
        for each in asked:
            shown = [found[key] for key in each.statements]
            before = refused.get(each.point, {})
            pairs = [before[at] for at in range(1, each.attempt)]
            texts = [one.text for one in shown]
            requests.append(write_request(run.prompt, target, shown[0].cell, texts, pairs))
        return requests

    def read(self, run: Run, call: Call, reply: Reply) -> Reading:
        """The one sentence of a reply."""
        try:
            found = read_one(reply.text, reply.finish_reason, 0, refusal=reply.refusal)
        except ReplyNotUsable as problem:
            return Reading.unscored(problem.reason)
        text = found.texts["0"]
        is_too_long = len(text.split()) > TOO_LONG * run.spec["target"]["words"]
        # A draft to try a prompt on has no version.
        if is_too_long and run.spec.get("parser_version", READER_VERSION) > 1:
            return Reading.unscored(Unscored.OUT_OF_SET)
        return Reading(value=text)

    def store(self, run: Run, ended: Sequence[Ended]) -> None:
        """One row a call; after the last one, a worker looks whether the texts fit."""
        keys = {Asked.of(one.call.subject_ids).point for one in ended}
        there = set(FoundPoint.objects.filter(pk__in=keys).values_list("pk", flat=True))
        WrittenPoint.objects.bulk_create(
            [_row(run, one, there) for one in ended],
            update_conflicts=True,
            unique_fields=["call"],
            update_fields=KEPT,
        )
        if not run.calls.filter(state__in=Call.OPEN).exists():
            analysis = run.study.analyses.filter(writing=run).first()
            if analysis is not None:
                enqueue_for(analysis, CHECK, run.created_by)

    def values(self, run: Run) -> dict[str, int]:
        """How many key points have how many words."""
        counts: dict[int, int] = {}
        for text in self.texts(run):
            size = len(text.split())
            counts[size] = counts.get(size, 0) + 1
        return {str(size): counts[size] for size in sorted(counts)}

    def texts(self, run: Run) -> Sequence[str]:
        """What was written so far."""
        rows = run.written_points.exclude(text="").order_by("pk")
        return list(rows.values_list("text", flat=True))

    def check(self, run: Run) -> list[str]:
        """Every ended call has its one row, under its own fence and as its reply says."""

        def is_as_said(row: WrittenPoint, call: Call) -> bool:
            value = self.read(run, call, call.reply).value if call.reply else None
            return bool(row.text == (value or ""))

        return check_rows(run, run.written_points.all(), "written key point", is_as_said)


def refuse_unfit(analysis: Analysis, run: Run) -> None:
    """Raise `RunRefused` where no language model can write for an analysis now."""
    if analysis.state != Analysis.State.DONE:
        raise RunRefused(_("The analysis is not done yet."))
    if run.spec["replicates"] != 1:
        raise RunRefused(_("One reply is asked for."))
    if earlier := writing_now(analysis):
        raise RunRefused(_("Run #%d still writes for it.") % earlier.number)
    if is_at_work(analysis):
        raise RunRefused(_("A worker still changes this analysis: wait until it is done."))


def _best(analysis: Analysis, points: Sequence[int], target: dict[str, Any]) -> dict[int, list]:
    """Key point → its best statements, best first; what people placed comes before others."""
    place = Window(RowNumber(), partition_by=F("point"), order_by=list(BEST_FIRST))
    rows = Placement.objects.filter(analysis=analysis, point__in=points).annotate(place=place)
    rows = rows.filter(place__lte=target["most_statements"]).order_by("point", "place")
    found: dict[int, list[int]] = {}
    for point, argument in rows.values_list("point", "argument"):
        found.setdefault(point, []).append(argument)
    return found


def _refused(run: Run, asked: Sequence[Asked]) -> dict[int, dict[int, Refused]]:
    """Key point → attempt → what was refused then."""
    found: dict[int, dict[int, Refused]] = {}
    if not asked:
        return found
    rows = WrittenPoint.objects.filter(
        run=run, point__in={each.point for each in asked}, verdict=WrittenPoint.Verdict.REFUSED
    )
    for point, attempt, text, nearest in rows.values_list("point", "attempt", "text", "nearest"):
        found.setdefault(point, {})[attempt] = (text, nearest)
    return found


def _row(run: Run, one: Ended, there: set[int]) -> WrittenPoint:
    asked = Asked.of(one.call.subject_ids)
    return WrittenPoint(
        run=run,
        call=one.call,
        point_id=asked.point if asked.point in there else None,
        attempt=asked.attempt,
        text=one.reading.value or "",
        reason=one.reading.reason[:40],
        fence=one.fence,
    )


def _shown_points(study: Study) -> QuerySet[FoundPoint]:
    """Key points with statements."""
    rows = FoundPoint.objects.filter(analysis__study=study, state=State.SHOWN, statements__gt=0)
    return rows.order_by("analysis", "position")


def _draft(study: Study, version: PromptVersion, point: Model) -> tuple[Run, list[Model]]:
    target = {"analysis": "", "words": WORDS, "most_statements": STATEMENTS}
    return Run(study=study, kind=KIND, prompt=version, spec={"target": target, "seed": 1}), [point]


def _tried(points: Sequence[Any]) -> tuple[int, ...]:
    placed = points[0].placements.order_by(*BEST_FIRST)
    keys = placed.values_list("argument", flat=True)[:STATEMENTS]
    return Asked(points[0].pk, 1, 0, tuple(keys)).subject.ids


POINT_WRITING = Previewed(lazy("Key point"), _shown_points, _draft, _tried)
