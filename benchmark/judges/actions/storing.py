"""Where the judgements of a scoring run go: sheets, parts of sheets, probes, and the trust in it.

Everything here runs inside the turn that ends the calls, under the gate of the run's endpoint and
the lock of its own row. So two workers that bring the last two parts of one sheet follow one
another, and the second one sees what the first wrote.
"""

from collections.abc import Iterable, Sequence

from benchmark.judges.methods.judgement_reading import Judgement
from benchmark.judges.reports.calls import CANARIES, CANARY, PLAIN, Asked
from benchmark.leaderboard.actions import request_board
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.scoring.models.runs import JudgementPart, ProbeResult, ScoringRun
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.runs.kinds import Ended
from cqa_site.runs.models import Call, Run

from .targets import rubric_of
from .trust import settle_trust

SAID = ["points", "notes", "reason", "fence", "at", "call"]
SHEET_SAID = [
    "state",
    "points",
    "given",
    "notes",
    "total",
    "reason",
    "call",
    "fence",
    "submitted_at",
]


def store_ended(run: Run, ended: Sequence[Ended]) -> None:
    """Store what ended, and what follows from it for the run as a whole."""
    scoring = ScoringRun.objects.select_for_update().get(run=run)
    rubric = rubric_of(run.spec["target"])
    asked = [(Asked(*one.call.subject_ids), one) for one in ended]
    plain = [(each, one) for each, one in asked if each.probe == PLAIN]
    probes = [(each, one) for each, one in asked if each.probe != PLAIN]
    _store_sheets(scoring, rubric, [(each, one) for each, one in plain if not each.group])
    _store_parts(scoring, rubric, [(each, one) for each, one in plain if each.group])
    _store_probes(run, probes)
    if any(each.probe == CANARY or each.variant for each, _one in asked):
        settle_trust(scoring, rubric)
    if not run.calls.filter(state__in=Call.OPEN).exists():
        _bring_boards_up_to_date(run, scoring)


def join_parts(
    scoring: ScoringRun, rubric: Rubric, parts: Sequence[JudgementPart]
) -> ScoreSheet | None:
    """The sheet that the parts of one answer make; None while one is missing.

    One part without points spoils the sheet, with that part's reason: a total without a group is
    no total.
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
    scoring: ScoringRun, rubric: Rubric, ended: Sequence[tuple[Asked, Ended]]
) -> None:
    _upsert(_whole_sheet(scoring, rubric, asked.answer, one) for asked, one in ended)


def _whole_sheet(scoring: ScoringRun, rubric: Rubric, answer: int, one: Ended) -> ScoreSheet:
    sheet = _sheet(scoring, rubric, answer, one.call.replicate)
    sheet.call, sheet.fence = one.call, one.fence
    if one.reading.reason:
        sheet.state, sheet.reason = ScoreSheet.State.UNSCORED, one.reading.reason[:40]
        sheet.given = _given(one, rubric)
        return sheet
    judgement: Judgement = one.reading.value
    sheet.points, sheet.notes = dict(judgement.points), dict(judgement.rationales)
    sheet.total = rubric.total(judgement.points)
    sheet.submitted_at = one.call.finished_at
    return sheet


def _given(one: Ended, rubric: Rubric) -> dict[str, int]:
    """All criteria of a reply that is unscored because some points are off the scale."""
    found: Judgement | None = one.reading.value
    is_whole = found is not None and len(found.given) == len(rubric.criteria)
    return dict(found.given) if found is not None and is_whole else {}


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
    scoring: ScoringRun, rubric: Rubric, ended: Sequence[tuple[Asked, Ended]]
) -> None:
    """Store parts; then join the sheets that they belong to, as far as they are complete."""
    if not ended:
        return
    JudgementPart.objects.bulk_create(
        [_part(scoring.run, rubric, asked, one) for asked, one in ended],
        update_conflicts=True,
        unique_fields=["run", "answer", "replicate", "group"],
        update_fields=SAID,
    )
    wanted = {(asked.answer, one.call.replicate) for asked, one in ended}
    rows = JudgementPart.objects.filter(run=scoring.run, answer__in={pk for pk, _k in wanted})
    found: dict[tuple[int, int], list[JudgementPart]] = {key: [] for key in wanted}
    for part in rows:
        if (part.answer_id, part.replicate) in found:
            found[part.answer_id, part.replicate].append(part)
    joined = (join_parts(scoring, rubric, parts) for parts in found.values())
    _upsert(sheet for sheet in joined if sheet is not None)


def _part(run: Run, rubric: Rubric, asked: Asked, one: Ended) -> JudgementPart:
    judgement = _judgement(one)
    return JudgementPart(
        run=run,
        call=one.call,
        answer_id=asked.answer,
        group=rubric.groups[asked.group - 1].key,
        replicate=one.call.replicate,
        points=dict(judgement.points) if judgement else {},
        notes=dict(judgement.rationales) if judgement else {},
        reason=one.reading.reason[:40],
        fence=one.fence,
    )


def _store_probes(run: Run, ended: Sequence[tuple[Asked, Ended]]) -> None:
    ProbeResult.objects.bulk_create(
        [_probe(run, asked, one) for asked, one in ended],
        update_conflicts=True,
        unique_fields=["call"],
        update_fields=["points", "total", "reason", "fence", "at"],
    )


def _probe(run: Run, asked: Asked, one: Ended) -> ProbeResult:
    judgement = _judgement(one)
    is_canary = asked.probe == CANARY
    return ProbeResult(
        run=run,
        call=one.call,
        answer_id=asked.answer,
        probe=ProbeResult.Probe.CANARY if is_canary else ProbeResult.Probe.SWAP,
        name=CANARIES[asked.variant].name if is_canary else "",
        replicate=one.call.replicate,
        points=dict(judgement.points) if judgement else {},
        total=float(sum(judgement.points.values())) if judgement else None,
        reason=one.reading.reason[:40],
        fence=one.fence,
    )


def _judgement(one: Ended) -> Judgement | None:
    """What was read of a reply that could be used."""
    judgement: Judgement | None = None if one.reading.reason else one.reading.value
    return judgement


def _bring_boards_up_to_date(run: Run, scoring: ScoringRun) -> None:
    """Once, when nothing of the run is open any more."""
    request_board(study=run.study, rubric=scoring.rubric)
