"""Runs in which a language model summarizes an analysis in prose.

Each request's row stores its content: the key points of a theme, the number of the attempt, and
the statements. Once all requests have ended, a job checks every sentence; see `checking`.
"""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.analysis.actions.point_writing import by_size, draft_of, refuse_unfit, shown_points
from argsum.analysis.models import Analysis, FoundPoint
from argsum.analysis.reports.mentions import BEST_FIRST
from argsum.datasets.models import CellArgument
from argsum.prose.methods import READER_VERSION, read_sentences
from argsum.prose.models import ProseParagraph, ProseSummary
from argsum.prose.reports import ParagraphKey, heading_of
from cqa_site.judging.extraction import ReplyNotUsable
from cqa_site.runs.integrity import check_rows
from cqa_site.runs.jobs import enqueue
from cqa_site.runs.kinds import CallRequest, EndedCall, PreviewTargets, ReplyReading, Subject
from cqa_site.runs.models import Call, Job, Reply, Run
from .prompts import STATEMENTS, WRONG, Refused, material_of, target_of, write_request

KIND = "analysis_prose"
CHECK = "analysis_check_prose"


class AnalysisProseKind:
    """Run kind ``analysis_prose``: the hooks that the engine calls."""

    parser_version = READER_VERSION
    values_title = lazy("Sentences in a paragraph:")
    dominance = None

    def begin(self, run: Run) -> None:
        """Link the run to its analysis; raises RunRefused if nothing can be written now."""
        analyses = Analysis.objects.select_for_update(of=("self",))
        analysis = analyses.get(study=run.study, public_id=run.spec["target"]["analysis"])
        text = _("Run #%d is still summarizing this analysis.")
        refuse_unfit(analysis, run, summarizing_now(analysis), text)
        ProseSummary.objects.create(run=run, analysis=analysis, revision=analysis.revision)

    def subjects(self, run: Run) -> list[Subject]:
        """Return the paragraphs with their statements, most comments first."""
        target = run.spec["target"]
        analysis = run.study.analyses.get(public_id=target["analysis"])
        return [key.subject for key in material_of(analysis, target)]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Return the requests for the subjects in two queries, or three if any are repeated."""
        keys = [ParagraphKey.of(subject.ids) for subject in subjects]
        rows = CellArgument.objects.select_related("cell").filter(
            cell__dataset__study=run.study_id
        )
        arguments = rows.in_bulk({pk for key in keys for pk in key.statements})
        own = FoundPoint.objects.select_related("analysis").filter(analysis__study=run.study_id)
        points = own.in_bulk({pk for key in keys for pk in key.points})
        analyses: dict[int, Analysis] = {}
        for point in points.values():
            # Share one object per analysis, because it caches whether there are bands.
            point.analysis = analyses.setdefault(point.analysis_id, point.analysis)
        refused = _refused(run, [key for key in keys if key.attempt > 1])
        return [
            write_request(
                run.prompt,
                run.spec["target"],
                [points[pk] for pk in key.points if pk in points],
                [arguments[pk] for pk in key.statements],
                [pair for attempt, pair in refused.get(key.group, ()) if attempt < key.attempt],
            )
            for key in keys
        ]

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read the sentences of a reply, including those that break a rule."""
        target = run.spec["target"]
        try:
            sentences = read_sentences(
                reply.text,
                reply.finish_reason,
                statements=len(ParagraphKey.of(call.subject_ids).statements),
                most=target["sentences"],
                words=target["words"],
                refusal=reply.refusal,
            )
        except ReplyNotUsable as problem:
            return ReplyReading.unscored(problem.reason)
        return ReplyReading(value=[sentence.stored for sentence in sentences])

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one row per call; after the last one, queue a check of the sentences."""
        keys = {reply.call.pk: ParagraphKey.of(reply.call.subject_ids) for reply in ended}
        points = FoundPoint.objects.in_bulk({pk for key in keys.values() for pk in key.points})
        ProseParagraph.objects.bulk_create(
            [
                ProseParagraph(
                    run=run,
                    call=reply.call,
                    group=keys[reply.call.pk].group,
                    attempt=keys[reply.call.pk].attempt,
                    theme=heading_of(
                        [points[pk] for pk in keys[reply.call.pk].points if pk in points]
                    ),
                    sentences=reply.reading.value or [],
                    reason=reply.reading.reason[:40],
                    fence=reply.fence,
                )
                for reply in ended
            ],
            update_conflicts=True,
            unique_fields=["call"],
            update_fields=["theme", "sentences", "outcomes", "reason", "fence"],
        )
        if not run.calls.filter(state__in=Call.OPEN).exists():
            key = str(run.public_id)
            enqueue(study=run.study, kind=CHECK, key=key, actor=run.created_by, run=run.pk)

    def values(self, run: Run) -> dict[str, int]:
        """Return how many paragraphs have each number of sentences."""
        rows = run.prose_paragraphs.filter(reason="").values_list("sentences", flat=True)
        return by_size(map(len, rows))

    def texts(self, run: Run) -> Sequence[str]:
        """Return the paragraphs written so far."""
        rows = run.prose_paragraphs.filter(reason="").order_by("pk")
        return [
            " ".join(sentence["text"] for sentence in sentences)
            for sentences in rows.values_list("sentences", flat=True)
        ]

    def check(self, run: Run) -> list[str]:
        """Check that every ended call has one row with the call's fence and a matching reply."""

        def is_as_said(row: ProseParagraph, call: Call) -> bool:
            value = self.read(run, call, call.reply).value if call.reply else None
            return bool(row.sentences == (value or []))

        return check_rows(run, run.prose_paragraphs.all(), "paragraph", is_as_said)


def summarizing_now(analysis: Analysis) -> Run | None:
    """Return the active run in which a language model summarizes an analysis, or None."""
    states = [*Run.ACTIVE, Run.State.DRAFT]
    return Run.objects.filter(prose_summary__analysis=analysis, state__in=states).first()


def check_job(run: Run) -> Job | None:
    """Return the newest job that checks the sentences of a run, or None."""
    jobs = Job.objects.filter(study=run.study_id, key=f"{CHECK}:{run.public_id}")
    return jobs.order_by("-pk").first()


def _refused(run: Run, keys: Sequence[ParagraphKey]) -> dict[int, list[tuple[int, Refused]]]:
    """Map groups to the sentences refused so far, each with its attempt."""
    refused: dict[int, list[tuple[int, Refused]]] = {}
    if not keys:
        return refused
    rows = ProseParagraph.objects.filter(run=run, group__in={key.group for key in keys})
    for row in rows.order_by("attempt"):
        for sentence, outcome in zip(row.sentences, row.outcomes or [], strict=False):
            if outcome["verdict"] in WRONG:
                pair = (sentence["text"], outcome["verdict"])
                refused.setdefault(row.group, []).append((row.attempt, pair))
    return refused


def _tried(points: Sequence[Any]) -> tuple[int, ...]:
    """Return the request about a key point that a run with default settings would make."""
    (point,) = points
    target = target_of(point.analysis, paragraphs=FoundPoint.objects.count())
    keys = material_of(point.analysis, target)
    own = (key for key in keys if point.pk in key.points)
    rows = point.placements.order_by(*BEST_FIRST).values_list("argument", flat=True)
    return next(own, ParagraphKey(1, (point.pk,), tuple(rows[:STATEMENTS]))).subject.ids


_DRAFT = draft_of(KIND, lambda point: target_of(point.analysis))
SUMMARIZING = PreviewTargets(lazy("Key point"), shown_points, _DRAFT, _tried)
