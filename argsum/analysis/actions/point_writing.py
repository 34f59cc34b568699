"""Runs in which a language model writes key points, and the check of its texts."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange, WrittenPoint
from argsum.analysis.reports.analyses import AnalysisCallKey
from argsum.analysis.reports.mentions import BEST_FIRST
from argsum.analysis.reports.points import ranked_statements
from argsum.datasets.models import Cell, CellArgument
from argsum.writing.actions.prompts import SIDES, fenced_arguments
from argsum.writing.methods import one_schema, read_one
from cqa_site.judging.extraction import UnscoredReason
from cqa_site.judging.prompts import (
    Neutral,
    PromptLayout,
    PromptParts,
    fence_records,
    fence_token,
    neutralise,
    quote,
    render,
)
from cqa_site.judging.reply_parsing import ReplyNotUsable
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.runs import RunRefused, ask_more
from cqa_site.runs.integrity import check_rows
from cqa_site.runs.jobs import JobContext, refusing
from cqa_site.runs.kinds import (
    CallRequest,
    EndedCall,
    PreviewTargets,
    PromptKind,
    ReplyReading,
    Subject,
)
from cqa_site.runs.ledger.gates import locked_gate
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from .analyses import (
    CHECK,
    ScorerTools,
    analysis_of,
    enqueue_for,
    is_at_work,
    statements_of,
    writing_now,
)
from .edits import Edit, EditRefused, alive, editing, found_by_machine, store
from .jobs import REFUSED, in_words

OF_STATEMENTS = "key_point_of_statements"
PROMPTS = {
    OF_STATEMENTS: PromptKind(
        lazy("Key point of an analysis"),
        PromptLayout(("words",), ("topic", "stance", "arguments", "refused")),
        Path(__file__).parent.parent / "prompts" / "key_point_of_statements.md",
    )
}
NONE_REFUSED = "none"
# A refused sentence, and the text of the key point that it is nearer to.
Refused = tuple[str, str]


def write_request(
    prompt: PromptVersion,
    target: Mapping[str, Any],
    cell: Cell,
    statements: Sequence[str],
    refused: Sequence[Refused] = (),
) -> CallRequest:
    """Return a request about the statements of a key point, with the texts refused earlier."""
    neutrals = [neutralise(text) for text in statements]
    values = about_cell(cell) | {
        "words": str(target["words"]),
        "arguments": fenced_arguments(neutrals),
        "refused": _refused_texts(refused),
    }
    return call_request(prompt, PROMPTS, values, one_schema(), neutrals)


def about_cell(cell: Cell) -> dict[str, str]:
    """Return the facts about a topic that every prompt contains."""
    topic = quote(neutralise(cell.topic).text)
    return {"topic": topic, "stance": SIDES[Cell.Stance(cell.stance)]}


def call_request(
    prompt: PromptVersion,
    kinds: Mapping[str, PromptKind],
    values: Mapping[str, str],
    schema: Mapping[str, Any],
    neutrals: Sequence[Neutral],
) -> CallRequest:
    """Return a request with the flags of all texts that it shows."""
    parts = PromptParts(prompt.system, prompt.user, kinds[prompt.kind].layout)
    flags = tuple(name for neutral in neutrals for name in neutral.flags.names)
    return CallRequest(tuple(render(parts, values)), schema, flags)


def _refused_texts(pairs: Sequence[Refused]) -> str:
    if not pairs:
        return NONE_REFUSED
    records = [
        {"refused": neutralise(text).text, "closer_to": neutralise(nearest).text}
        for text, nearest in pairs
    ]
    plain = [text for record in records for text in record.values()]
    return "\n" + fence_records(records, fence_token("refused", *plain))


# Each request's row stores its contents (the key point, the attempt and the statements), so that
# people can edit during a run. When all requests have ended, `check_written` checks the texts.
KIND = "point_writing"
WORDS, STATEMENTS = 15, 30
# A text with more than this multiple of the requested words is refused, except in version 1.
TOO_LONG, READER_VERSION = 2, 2
# Maximum number of requests for a key point, including the first.
ATTEMPTS = 3
State = FoundPoint.State
STORED_FIELDS = ["point", "attempt", "text", "reason", "fence"]


def target_of(
    analysis: Analysis, *, words: int = WORDS, most_statements: int = STATEMENTS
) -> dict[str, Any]:
    """Return the target of a run, as stored in its spec.

    ``words`` and ``most_statements`` are the maximum numbers of words in a key point and of
    statements in a request.
    """
    return {
        "analysis": str(analysis.public_id),
        "words": words,
        "most_statements": most_statements,
    }


def writable_points(analysis: Analysis) -> QuerySet[FoundPoint]:
    """Return key points written by a machine or language model and not renamed since."""
    rows = found_by_machine(analysis).filter(statements__gt=0)
    return rows.order_by("-comments", "position")


class PointWritingKind:
    """Run kind ``point_writing``: the hooks that the engine calls."""

    parser_version = READER_VERSION
    values_title = lazy("Words in a key point:")
    dominance = None

    def begin(self, run: Run) -> None:
        """Link the run to its analysis; raises RunRefused if it cannot start now."""
        begin_run(run, "writing")

    def subjects(self, run: Run) -> list[Subject]:
        """Return key points, most comments first, each with its best statements."""
        analysis = run.study.analyses.get(public_id=run.spec["target"]["analysis"])
        points = list(writable_points(analysis).values_list("pk", "revision"))
        most = run.spec["target"]["most_statements"]
        best = ranked_statements(analysis, [pk for pk, _seen in points], most)
        return [
            AnalysisCallKey(pk, 1, seen, tuple(key for key, _text in best[pk])).subject
            for pk, seen in points
            if pk in best
        ]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Return the requests for the subjects, using two queries."""
        keys = [AnalysisCallKey.of(subject.ids) for subject in subjects]
        wanted = {key for question in keys for key in question.statements}
        rows = CellArgument.objects.select_related("cell").filter(
            cell__dataset__study=run.study_id
        )
        arguments = rows.in_bulk(wanted)
        refused = _refused(run, [question for question in keys if question.attempt > 1])
        target = run.spec["target"]
        requests = []
        for task in keys:
            statements = [arguments[key] for key in task.statements]
            before = refused.get(task.point, {})
            pairs = [before[at] for at in range(1, task.attempt)]
            texts = [argument.text for argument in statements]
            requests.append(write_request(run.prompt, target, statements[0].cell, texts, pairs))
        return requests

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read the single sentence of a reply."""
        try:
            content = read_one(reply.text, reply.finish_reason, 0, refusal=reply.refusal)
        except ReplyNotUsable as problem:
            return ReplyReading.unscored(problem.reason)
        text = content.texts["0"]
        is_too_long = len(text.split()) > TOO_LONG * run.spec["target"]["words"]
        # A draft for trying a prompt has no version.
        if is_too_long and run.spec.get("parser_version", READER_VERSION) > 1:
            return ReplyReading.unscored(UnscoredReason.OUT_OF_SET)
        return ReplyReading(value=text)

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one row per call. After the last call, queue a check of the texts."""
        keys = {AnalysisCallKey.of(reply.call.subject_ids).point for reply in ended}
        there = set(FoundPoint.objects.filter(pk__in=keys).values_list("pk", flat=True))
        WrittenPoint.objects.bulk_create(
            [_row(run, reply, there) for reply in ended],
            update_conflicts=True,
            unique_fields=["call"],
            update_fields=STORED_FIELDS,
        )
        if not run.calls.filter(state__in=Call.OPEN).exists():
            analysis = run.study.analyses.filter(writing=run).first()
            if analysis is not None:
                enqueue_for(analysis, CHECK, run.created_by)

    def values(self, run: Run) -> dict[str, int]:
        """Return the number of key points by number of words."""
        return by_size(len(text.split()) for text in self.texts(run))

    def texts(self, run: Run) -> Sequence[str]:
        """Return the texts written so far."""
        rows = run.written_points.exclude(text="").order_by("pk")
        return list(rows.values_list("text", flat=True))

    def check(self, run: Run) -> list[str]:
        """Check that each finished call has one row with the call's fence and a matching reply."""

        def is_as_said(row: WrittenPoint, call: Call) -> bool:
            value = self.read(run, call, call.reply).value if call.reply else None
            return bool(row.text == (value or ""))

        return check_rows(run, run.written_points.all(), "written key point", is_as_said)


def by_size(sizes: Iterable[int]) -> dict[str, int]:
    """Count how often each size occurs, smallest first."""
    return {str(size): number for size, number in sorted(Counter(sizes).items())}


def begin_run(run: Run, field: str) -> None:
    """Link a run to its analysis; raises RunRefused if no such run can start now."""
    analyses = Analysis.objects.select_for_update(of=("self",)).select_related("writing", "coding")
    analysis = analyses.get(study=run.study, public_id=run.spec["target"]["analysis"])
    text = _("Run #%d is still working on this analysis.")
    refuse_unfit(analysis, run, writing_now(analysis), text)
    Analysis.objects.filter(pk=analysis.pk).update(**{field: run})


def refuse_unfit(analysis: Analysis, run: Run, earlier: Run | None, text: str) -> None:
    """Raise `RunRefused` if no language-model run for the analysis can start now.

    ``text`` is the message to show if ``earlier``, an active run, is given.
    """
    if analysis.state != Analysis.State.DONE:
        raise RunRefused(_("The analysis is not finished yet."))
    if run.spec["replicates"] != 1:
        raise RunRefused(_("Only one reply per request is possible."))
    if earlier:
        raise RunRefused(text % earlier.number)
    if is_at_work(analysis):
        raise RunRefused(_("This analysis is still being updated. Wait until it is finished."))


def _refused(run: Run, keys: Sequence[AnalysisCallKey]) -> dict[int, dict[int, Refused]]:
    """Map each key point and attempt to the text refused in that attempt."""
    refusals: dict[int, dict[int, Refused]] = {}
    if not keys:
        return refusals
    rows = WrittenPoint.objects.filter(
        run=run,
        point__in={question.point for question in keys},
        verdict=WrittenPoint.Verdict.REFUSED,
    )
    for point, attempt, text, nearest in rows.values_list("point", "attempt", "text", "nearest"):
        refusals.setdefault(point, {})[attempt] = (text, nearest)
    return refusals


def _row(run: Run, reply: EndedCall, there: set[int]) -> WrittenPoint:
    key = AnalysisCallKey.of(reply.call.subject_ids)
    return WrittenPoint(
        run=run,
        call=reply.call,
        point_id=key.point if key.point in there else None,
        attempt=key.attempt,
        text=reply.reading.value or "",
        reason=reply.reading.reason[:40],
        fence=reply.fence,
    )


def shown_points(study: Study) -> QuerySet[FoundPoint]:
    """Return the shown key points that have statements."""
    rows = FoundPoint.objects.filter(analysis__study=study, state=State.SHOWN, statements__gt=0)
    return rows.select_related("analysis").order_by("analysis", "position")


def draft_of(kind: str, target_of: Callable[[Any], dict[str, Any]]) -> Callable[..., Any]:
    """Return a function that builds an unsaved run, for trying a prompt on one row."""

    def draft(study: Study, version: PromptVersion, row: Any) -> tuple[Run, list[Any]]:
        spec = {"target": target_of(row), "seed": 1}
        return Run(study=study, kind=kind, prompt=version, spec=spec), [row]

    return draft


def _tried(points: Sequence[Any]) -> tuple[int, ...]:
    placed = points[0].placements.order_by(*BEST_FIRST)
    keys = placed.values_list("argument", flat=True)[:STATEMENTS]
    return AnalysisCallKey(points[0].pk, 1, 0, tuple(keys)).subject.ids


_DRAFT = draft_of(KIND, lambda point: target_of(point.analysis))
POINT_WRITING = PreviewTargets(lazy("Key point"), shown_points, _DRAFT, _tried)

# A text fits if it matches the statements of its own key point better, on average, than those of
# any other key point. Otherwise another request follows, with the refused text and the reason.
# Edits are stored first, and further requests at the end of the job, each in one transaction, so
# that no request is paid twice if a worker crashes.
Verdict = WrittenPoint.Verdict
CHECKED = ["verdict", "nearest", "scores", "note"]


def check_written(work: JobContext) -> None:
    """Run a job that checks written texts. Nothing is stored for a cancelled run."""
    analysis = analysis_of(work)
    if analysis.writing_id is None:
        return
    run = Run.objects.select_related("endpoint", "prompt", "study").get(pk=analysis.writing_id)
    with refusing((*REFUSED, EditRefused, RunRefused), in_words=in_words):
        while not _is_over(run, work):
            _check(analysis, run, work)


def _is_over(run: Run, work: JobContext) -> bool:
    """End the job and request rewrites of refused texts, or return False if any are unchecked.

    Replies are stored under the same gate lock, so no reply can arrive in between.
    """
    with transaction.atomic(), locked_gate(run.endpoint):
        run.refresh_from_db(fields=["state"])
        if run.state == Run.State.CANCELLED:
            work.finish()
            return True
        if _unchecked(run):
            return False
        ask_more(run=run, subjects=_again(run))
        work.finish()
        return True


def _unchecked(run: Run) -> list[WrittenPoint]:
    rows = run.written_points.filter(verdict=Verdict.UNCHECKED, point__isnull=False)
    return list(rows.exclude(text="").select_related("point", "call").order_by("pk"))


def _again(run: Run) -> list[Subject]:
    """Return new requests for refused texts. The engine skips existing requests."""
    rows = run.written_points.filter(verdict=Verdict.REFUSED, attempt__lt=ATTEMPTS)
    ids = rows.order_by("pk").values_list("call__subject_ids", flat=True)
    return [AnalysisCallKey.of(subject).again.subject for subject in ids]


def _check(analysis: Analysis, run: Run, work: JobContext) -> None:
    rows = _unchecked(run)
    _look(rows, analysis, ScorerTools(analysis, work))
    with editing(analysis) as held:
        run.refresh_from_db(fields=["state"])
        if run.state == Run.State.CANCELLED:
            return
        for row in rows:
            if row.verdict == Verdict.UNCHECKED:
                _take(held, run, row, work.job.created_by)
        WrittenPoint.objects.bulk_update(rows, CHECKED, batch_size=200)
        work.step(99, 100, _("storing"))


def _look(rows: Sequence[WrittenPoint], analysis: Analysis, tools: ScorerTools) -> None:
    """Refuse texts that match their own statements no better than those of another key point.

    The rows are not saved.
    """
    import numpy as np

    from argsum.analysis.methods.statements import fits_of

    candidates = analysis.points.filter(state=FoundPoint.State.SHOWN, statements__gt=0)
    points = list(candidates.order_by("pk"))
    places = {point.pk: place for place, point in enumerate(points)}
    known = [row for row in rows if row.point_id in places]
    if not known:
        return
    tools.say(0.0, _("reading the statements"), 0.9)
    behind, placed, texts = _placed(analysis, places)
    # In the same order as in the analysis, which stored their vectors on disk.
    statements = tools.vectors(texts)[behind]
    tools.say(0.9, _("checking the texts"))
    written = tools.vectors([row.text for row in known])
    own = [places[row.point_id or 0] for row in known]
    fits = fits_of(written, own, statements, np.array(placed), len(points))
    for row, fit in zip(known, fits, strict=True):
        row.scores = [round(score, 4) for score in (fit.own, fit.other) if score is not None]
        if not fit.fits:
            row.verdict = Verdict.REFUSED
            row.nearest = points[fit.nearest or 0].text


def _placed(analysis: Analysis, places: dict[int, int]) -> tuple[list[int], list[int], list[str]]:
    """Return the positions of placed statements and of their key points, and all texts."""
    pairs = list(statements_of(analysis.cell).values_list("pk", "text"))
    row = {pk: at for at, (pk, _text) in enumerate(pairs)}
    placed = Placement.objects.filter(analysis=analysis, point__in=places).order_by("argument")
    at = [
        (row[argument], places[point])
        for argument, point in placed.values_list("argument", "point")
        if point is not None and argument in row
    ]
    return (
        [place for place, _point in at],
        [point for _place, point in at],
        [text for _pk, text in pairs],
    )


def _take(analysis: Analysis, run: Run, row: WrittenPoint, actor: User | None) -> None:
    """Rename a key point to the written text, unless somebody changed it since the run began."""
    if row.point is None:
        return
    try:
        point = alive(analysis, [row.point], AnalysisCallKey.of(row.call.subject_ids).seen)[0]
    except EditRefused as reason:
        row.verdict, row.note = Verdict.CHANGED, str(reason)
        return
    others = analysis.points.filter(state__in=FoundPoint.ALIVE, text__iexact=row.text)
    if not point.statements:
        row.verdict, row.note = Verdict.CHANGED, _("The key point no longer has any statements.")
    elif others.exclude(pk=point.pk).exists():
        row.verdict, row.nearest = Verdict.REFUSED, row.text
    elif point.text == row.text:
        row.verdict = Verdict.SAME
    else:
        row.verdict = Verdict.TAKEN
        fields = {point.pk: {"text": row.text, "writer_id": run.pk}}
        store(analysis, Edit(PointChange.Verb.WRITTEN, point, fields, run=run), actor)
