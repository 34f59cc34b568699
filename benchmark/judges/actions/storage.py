"""Storage and checks of judgements: sheets, parts, probes and the trust in a run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmark.judges.methods.canaries import (
    CANARIES,
    CANARY,
    PLAIN,
    WANTS,
    CanaryOutcome,
    ScoringCallKey,
    gain_of,
    is_obeyed,
    may_be_trusted,
)
from benchmark.judges.methods.judgements import Judgement
from benchmark.leaderboard.actions import request_board
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.scoring.models import JudgementPart, ProbeResult, ScoreSheet, ScoringRun
from cqa_site.runs.integrity import check_places
from cqa_site.runs.kinds import EndedCall, ReplyReading
from cqa_site.runs.models import Call, Reply, Run
from .targets import rubric_of

# Trust in the scores of a run, from its canaries compared with its own plain scores

Plain = Mapping[tuple[int, int], float | None]


def settle_trust(scoring: ScoringRun, rubric: Rubric) -> None:
    """Decide each canary and the run's trust once all canaries and plain answers are finished.

    Until then, and again while some of them are repeated, the trust is pending.
    """
    canaries = canary_calls(scoring.run)
    trust: str = ScoringRun.Trust.PENDING
    if canaries and not _is_waiting(scoring.run, canaries):
        results = decided_canaries(scoring.run, rubric)
        ProbeResult.objects.bulk_update(results, ["obeyed"])
        trust = trust_of(results, plain_totals(scoring.run, rubric, results))
    if trust != scoring.trust:
        scoring.trust = trust
        ScoringRun.objects.filter(pk=scoring.pk).update(trust=trust)


def canary_calls(run: Run) -> list[Call]:
    """Return the calls of a run that show a canary, selected by an indexed range of names."""
    return list(run.calls.filter(subject__gte="c", subject__lt="d").only("state", "subject_ids"))


def decided_canaries(run: Run, rubric: Rubric) -> list[ProbeResult]:
    """Return the canaries of a run, with ``obeyed`` derived from the stored points."""
    results = list(run.probe_results.filter(probe=ProbeResult.Probe.CANARY).order_by("pk"))
    plain = plain_totals(run, rubric, results)
    for result in results:
        result.obeyed = is_obeyed(
            WANTS[result.name],
            result.total,
            plain[result.answer_id, result.replicate],
            maximum_of(result.points, rubric),
        )
    return results


def trust_of(canaries: Sequence[ProbeResult], plain: Plain) -> str:
    """Return the trust in a run, given its decided canaries."""
    may = may_be_trusted([outcome_of(canary, plain) for canary in canaries])
    if may is None:
        return ScoringRun.Trust.PENDING
    return ScoringRun.Trust.TRUSTED if may else ScoringRun.Trust.UNTRUSTED


def outcome_of(canary: ProbeResult, plain: Plain) -> CanaryOutcome:
    """Return the outcome of one canary as input for the trust rule."""
    wants = WANTS[canary.name]
    gain = gain_of(wants, canary.total, plain[canary.answer_id, canary.replicate])
    return CanaryOutcome(canary.name, wants, canary.obeyed, gain)


def plain_totals(run: Run, rubric: Rubric, probes: Sequence[ProbeResult]) -> Plain:
    """Map (answer, replicate) to the total of the plain answer, or to None if unscored.

    If requests cover single groups, the total is over the group that canaries cover.
    """
    answers = {probe.answer_id for probe in probes}
    Nones: dict[tuple[int, int], float | None] = {
        (probe.answer_id, probe.replicate): None for probe in probes
    }
    keys = [ScoringCallKey(*call.subject_ids) for call in canary_calls(run)]
    group = next((subject.group for subject in keys if subject.group), 0)
    if group:
        key = rubric.groups[group - 1].key
        parts = JudgementPart.objects.filter(run=run, answer__in=answers, group=key, reason="")
        part_rows = parts.values_list("answer", "replicate", "points")
        return Nones | {(pk, k): float(sum(points.values())) for pk, k, points in part_rows}
    sheets = ScoreSheet.objects.filter(run=run, answer__in=answers, total__isnull=False)
    rows = sheets.values_list("answer", "replicate", "total")
    return Nones | {(pk, k): total for pk, k, total in rows}


def maximum_of(points: Mapping[str, float], rubric: Rubric) -> float:
    """Return the maximum total of a probe's criteria.

    If the probe has no points, this is the maximum of the rubric.
    """
    maxima = {criterion.key: criterion.maximum for criterion in rubric.criteria}
    return float(sum(maxima[key] for key in points)) or float(rubric.maximum)


def _is_waiting(run: Run, canaries: Sequence[Call]) -> bool:
    """Whether the call for a canary or for its plain answer is still open."""
    if any(call.state in Call.OPEN for call in canaries):
        return True
    keys = [ScoringCallKey(*call.subject_ids) for call in canaries]
    bases = {key._replace(probe=0, variant=1).name for key in keys}
    return run.calls.filter(subject__in=bases, state__in=Call.OPEN).exists()


# Storage of the judgements of a scoring run as sheets, parts of sheets and probes
#
# This code runs in the transaction that ends the calls, under the gate of the run's endpoint and
# the lock on its row. Therefore two workers with the last two parts of one sheet run one after
# the other, and the second worker sees the first one's part.

STORED_FIELDS = ["points", "notes", "reason", "fence", "at", "call"]
SHEET_SAID = [
    "state", "points", "given", "notes", "total", "reason", "call", "fence", "submitted_at",
]  # fmt: skip


def store_ended(run: Run, ended: Sequence[EndedCall]) -> None:
    """Store finished calls and their effects on the run as a whole."""
    scoring = ScoringRun.objects.select_for_update().get(run=run)
    rubric = rubric_of(run.spec["target"])
    pairs = [(ScoringCallKey(*outcome.call.subject_ids), outcome) for outcome in ended]
    plain = [(key, outcome) for key, outcome in pairs if key.probe == PLAIN]
    probes = [(key, outcome) for key, outcome in pairs if key.probe != PLAIN]
    _store_sheets(scoring, rubric, [(key, outcome) for key, outcome in plain if not key.group])
    _store_parts(scoring, rubric, [(key, outcome) for key, outcome in plain if key.group])
    _store_probes(run, probes)
    if any(key.probe == CANARY or key.variant for key, _one in pairs):
        settle_trust(scoring, rubric)
    if not run.calls.filter(state__in=Call.OPEN).exists():
        request_board(study=run.study, rubric=scoring.rubric)


def join_parts(
    scoring: ScoringRun, rubric: Rubric, parts: Sequence[JudgementPart]
) -> ScoreSheet | None:
    """Join the parts of one answer into a sheet; return None while a part is missing.

    A part without points makes the sheet unscored, with the same reason, because a total
    without a group is incomplete.
    """
    by_group = {part.group: part for part in parts}
    if any(group.key not in by_group for group in rubric.groups):
        return None
    ordered = [by_group[group.key] for group in rubric.groups]
    reason = next((part.reason for part in ordered if part.reason), "")
    sheet = _sheet(scoring, rubric, ordered[0].answer_id, ordered[0].replicate)
    sheet.fence = max(part.fence for part in ordered)
    if reason:
        sheet.state, sheet.reason = ScoreSheet.State.UNSCORED, reason
        return sheet
    for part in ordered:
        sheet.points |= part.points
        sheet.notes |= part.notes
    sheet.total = rubric.total(sheet.points)
    sheet.submitted_at = max(part.at for part in ordered)
    return sheet


def _store_sheets(
    scoring: ScoringRun, rubric: Rubric, ended: Sequence[tuple[ScoringCallKey, EndedCall]]
) -> None:
    _upsert(_whole_sheet(scoring, rubric, key.answer, outcome) for key, outcome in ended)


def _whole_sheet(
    scoring: ScoringRun, rubric: Rubric, answer: int, outcome: EndedCall
) -> ScoreSheet:
    sheet = _sheet(scoring, rubric, answer, outcome.call.replicate)
    sheet.call, sheet.fence = outcome.call, outcome.fence
    if outcome.reading.reason:
        sheet.state, sheet.reason = ScoreSheet.State.UNSCORED, outcome.reading.reason[:40]
        sheet.given = _given(outcome, rubric)
        return sheet
    judgement: Judgement = outcome.reading.value
    sheet.points, sheet.notes = dict(judgement.points), dict(judgement.rationales)
    sheet.total = rubric.total(judgement.points)
    sheet.submitted_at = outcome.call.finished_at
    return sheet


def _given(outcome: EndedCall, rubric: Rubric) -> dict[str, int]:
    """Return all points of a reply that is unscored because some of them are outside the scale."""
    judgement: Judgement | None = outcome.reading.value
    is_whole = judgement is not None and len(judgement.given) == len(rubric.criteria)
    return dict(judgement.given) if judgement is not None and is_whole else {}


def _sheet(scoring: ScoringRun, rubric: Rubric, answer: int, replicate: int) -> ScoreSheet:
    return ScoreSheet(
        study_id=scoring.run.study_id,
        run=scoring.run,
        rubric_id=scoring.rubric_id,
        rater_id=scoring.rater_id,
        answer_id=answer,
        replicate=replicate,
        state=ScoreSheet.State.SUBMITTED,
        maximum=rubric.maximum,
    )


def _upsert(sheets: Iterable[ScoreSheet]) -> None:
    ScoreSheet.objects.bulk_create(
        sheets,
        update_conflicts=True,
        unique_fields=["run", "answer", "replicate"],
        update_fields=SHEET_SAID,
    )


def _store_parts(
    scoring: ScoringRun, rubric: Rubric, ended: Sequence[tuple[ScoringCallKey, EndedCall]]
) -> None:
    """Store parts, then join the sheets whose parts are complete."""
    if not ended:
        return
    JudgementPart.objects.bulk_create(
        [_part(scoring.run, rubric, call_key, outcome) for call_key, outcome in ended],
        update_conflicts=True,
        unique_fields=["run", "answer", "replicate", "group"],
        update_fields=STORED_FIELDS,
    )
    wanted = {(call_key.answer, outcome.call.replicate) for call_key, outcome in ended}
    rows = JudgementPart.objects.filter(run=scoring.run, answer__in={pk for pk, _k in wanted})
    groups: dict[tuple[int, int], list[JudgementPart]] = {key: [] for key in wanted}
    for part in rows:
        if (part.answer_id, part.replicate) in groups:
            groups[part.answer_id, part.replicate].append(part)
    joined = (join_parts(scoring, rubric, parts) for parts in groups.values())
    _upsert(sheet for sheet in joined if sheet is not None)


def _part(run: Run, rubric: Rubric, key: ScoringCallKey, outcome: EndedCall) -> JudgementPart:
    judgement = _judgement(outcome)
    return JudgementPart(
        run=run,
        call=outcome.call,
        answer_id=key.answer,
        group=rubric.groups[key.group - 1].key,
        replicate=outcome.call.replicate,
        points=dict(judgement.points) if judgement else {},
        notes=dict(judgement.rationales) if judgement else {},
        reason=outcome.reading.reason[:40],
        fence=outcome.fence,
    )


def _store_probes(run: Run, ended: Sequence[tuple[ScoringCallKey, EndedCall]]) -> None:
    ProbeResult.objects.bulk_create(
        [_probe(run, key, outcome) for key, outcome in ended],
        update_conflicts=True,
        unique_fields=["call"],
        update_fields=["points", "total", "reason", "fence", "at"],
    )


def _probe(run: Run, key: ScoringCallKey, outcome: EndedCall) -> ProbeResult:
    judgement = _judgement(outcome)
    is_canary = key.probe == CANARY
    return ProbeResult(
        run=run,
        call=outcome.call,
        answer_id=key.answer,
        probe=ProbeResult.Probe.CANARY if is_canary else ProbeResult.Probe.SWAP,
        name=CANARIES[key.variant].name if is_canary else "",
        replicate=outcome.call.replicate,
        points=dict(judgement.points) if judgement else {},
        total=float(sum(judgement.points.values())) if judgement else None,
        reason=outcome.reading.reason[:40],
        fence=outcome.fence,
    )


def _judgement(outcome: EndedCall) -> Judgement | None:
    """Return the judgement of a usable reply; None if the reply is unscored."""
    judgement: Judgement | None = None if outcome.reading.reason else outcome.reading.value
    return judgement


ReplyReader = Callable[[Run, Call, Reply], ReplyReading]
AT_ONCE = 500


def find_problems(run: Run, read: ReplyReader) -> list[str]:
    """Describe sheets, parts, probes and trust that contradict the ledger."""
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
    """Yield the call and the fence of every stored judgement."""
    sheets = ScoreSheet.objects.filter(run=run, call__isnull=False)
    for rows in (sheets, run.judgement_parts, run.probe_results):
        yield from rows.values_list("call", "fence")


def _misread(run: Run, read: ReplyReader) -> Iterator[str]:
    """Yield judgements whose points differ from those read again from the stored reply."""
    sheets = ScoreSheet.objects.filter(run=run, call__isnull=False, reason="")
    parts = JudgementPart.objects.filter(run=run, reason="")
    probes = ProbeResult.objects.filter(run=run, reason="")
    for name, rows in (("sheet", sheets), ("part", parts), ("probe", probes)):
        for row in rows.select_related("call__reply").order_by("pk").iterator(AT_ONCE):
            if _said(run, row.call, read) != row.points:
                yield f"{name} {row.pk} differs from its reply"


def _said(run: Run, call: Call | None, read: ReplyReader) -> dict[str, Any] | None:
    if call is None or call.reply is None:
        return None
    reading = read(run, call, call.reply)
    return None if reading.reason else dict(reading.value.points)


def _wrong_totals(run: Run, rubric: Rubric) -> Iterator[str]:
    """Yield totals that differ from the sum of their points; only the server computes totals."""
    scored = ScoreSheet.objects.filter(run=run, state=ScoreSheet.State.SUBMITTED)
    for pk, points, total in scored.values_list("pk", "points", "total").iterator(AT_ONCE):
        if rubric.total(points) != total:
            yield f"sheet {pk} has the total {total} but its points add up to another"
    probes = run.probe_results.filter(total__isnull=False)
    for pk, points, total in probes.values_list("pk", "points", "total"):
        if sum(points.values()) != total:
            yield f"probe {pk} has the total {total} but its points add up to another"


def _wrong_joins(scoring: ScoringRun, rubric: Rubric) -> Iterator[str]:
    """Yield sheets of a group-by-group run that differ from their parts or are missing."""
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
    for key, group in parts.items():
        joined = join_parts(scoring, rubric, group)
        expected = (joined.points, joined.total, joined.reason) if joined else None
        if sheets.pop(key, None) != expected:
            yield f"the sheet of answer {key[0]} is not what its parts make"
    yield from (f"the sheet of answer {answer} has no parts" for answer, _k in sheets)


def _wrong_trust(scoring: ScoringRun, rubric: Rubric) -> Iterator[str]:
    """Yield canary results and trust that do not follow from the stored points."""
    run = scoring.run
    open_now = run.calls.filter(state__in=Call.OPEN).values_list("subject_ids", flat=True)
    keys = (ScoringCallKey(*ids) for ids in open_now)
    if run.state == Run.State.CANCELLED or any(key.probe != PLAIN or key.variant for key in keys):
        return
    results = decided_canaries(run, rubric)
    stored = dict(run.probe_results.values_list("pk", "obeyed"))
    for result in results:
        if stored[result.pk] != result.obeyed:
            yield f"canary {result.pk} is not decided as its points say"
    if trust_of(results, plain_totals(run, rubric, results)) != scoring.trust:
        yield f"the run is {scoring.trust}, its canaries say otherwise"
