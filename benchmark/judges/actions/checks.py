"""Whether what is stored of a scoring run is what its ledger and its replies say."""

from collections.abc import Callable, Iterator
from typing import Any

from benchmark.judges.reports.calls import PLAIN, Asked
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.scoring.models.runs import JudgementPart, ProbeResult, ScoringRun
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.runs.kinds import Reading
from cqa_site.runs.models import Call, Reply, Run
from cqa_site.runs.one_row import check_places

from .storing import join_parts
from .targets import rubric_of
from .trust import decided_canaries, plain_totals, trust_of

Read = Callable[[Run, Call, Reply], Reading]
AT_ONCE = 500


def find_problems(run: Run, read: Read) -> list[str]:
    """Sentences about sheets, parts, probes and trust that contradict the ledger."""
    scoring = ScoringRun.objects.select_related("run").get(run=run)
    scoring.run = run
    rubric = rubric_of(run.spec["target"])
    problems = check_places(run, dict(_rows(run)), "judgement")
    problems += _misread(run, read)
    problems += _wrong_totals(run, rubric)
    problems += _wrong_joins(scoring, rubric)
    problems += _wrong_trust(scoring, rubric)
    return problems


def _rows(run: Run) -> Iterator[tuple[int, int]]:
    """Call and fence of every stored judgement."""
    sheets = ScoreSheet.objects.filter(run=run, call__isnull=False)
    for rows in (sheets, run.judgement_parts, run.probe_results):
        yield from rows.values_list("call", "fence")


def _misread(run: Run, read: Read) -> Iterator[str]:
    """Judgements with points that their stored reply does not give when it is read once more."""
    sheets = ScoreSheet.objects.filter(run=run, call__isnull=False, reason="")
    parts = JudgementPart.objects.filter(run=run, reason="")
    probes = ProbeResult.objects.filter(run=run, reason="")
    for name, rows in (("sheet", sheets), ("part", parts), ("probe", probes)):
        for row in rows.select_related("call__reply").order_by("pk").iterator(AT_ONCE):
            if _said(run, row.call, read) != row.points:
                yield f"{name} {row.pk} is not what its reply says"


def _said(run: Run, call: Call | None, read: Read) -> dict[str, Any] | None:
    if call is None or call.reply is None:
        return None
    reading = read(run, call, call.reply)
    return None if reading.reason else dict(reading.value.points)


def _wrong_totals(run: Run, rubric: Rubric) -> Iterator[str]:
    """The server adds up; nobody else."""
    scored = ScoreSheet.objects.filter(run=run, state=ScoreSheet.State.SUBMITTED)
    for pk, points, total in scored.values_list("pk", "points", "total").iterator(AT_ONCE):
        if rubric.total(points) != total:
            yield f"sheet {pk} has the total {total}, its points another"
    probes = run.probe_results.filter(total__isnull=False)
    for pk, points, total in probes.values_list("pk", "points", "total"):
        if sum(points.values()) != total:
            yield f"probe {pk} has the total {total}, its points another"


def _wrong_joins(scoring: ScoringRun, rubric: Rubric) -> Iterator[str]:
    """Sheets of a run that asks group by group are what their parts make, and all are there."""
    run = scoring.run
    parts: dict[tuple[int, int], list[JudgementPart]] = {}
    for part in run.judgement_parts.order_by("pk").iterator(AT_ONCE):
        parts.setdefault((part.answer_id, part.replicate), []).append(part)
    if not parts:
        return
    rows = ScoreSheet.objects.filter(run=run).values_list(
        "answer", "replicate", "points", "total", "reason"
    )
    sheets = {(answer, replicate): tuple(rest) for answer, replicate, *rest in rows}
    for key, each in parts.items():
        joined = join_parts(scoring, rubric, each)
        expected = (joined.points, joined.total, joined.reason) if joined else None
        if sheets.pop(key, None) != expected:
            yield f"the sheet of answer {key[0]} is not what its parts make"
    yield from (f"the sheet of answer {answer} has no parts" for answer, _k in sheets)


def _wrong_trust(scoring: ScoringRun, rubric: Rubric) -> Iterator[str]:
    """Trust follows from the canaries, once they are over."""
    run = scoring.run
    open_now = run.calls.filter(state__in=Call.OPEN).values_list("subject_ids", flat=True)
    asked = (Asked(*ids) for ids in open_now)
    if run.state == Run.State.CANCELLED or any(
        each.probe != PLAIN or each.variant for each in asked
    ):
        return
    found = decided_canaries(run, rubric)
    stored = dict(run.probe_results.values_list("pk", "obeyed"))
    for each in found:
        if stored[each.pk] != each.obeyed:
            yield f"canary {each.pk} is not decided as its points say"
    if trust_of(found, plain_totals(run, rubric, found), rubric) != scoring.trust:
        yield f"the run is {scoring.trust}, its canaries say otherwise"
