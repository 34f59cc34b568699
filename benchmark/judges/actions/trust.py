"""Whether the scores of a run may be used: its canaries against its own plain scores."""

from collections.abc import Mapping, Sequence

from benchmark.judges.methods.canaries import CANARIES, Outcome, gain_of, is_obeyed, may_be_trusted
from benchmark.judges.reports.calls import Asked
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.scoring.models.runs import JudgementPart, ProbeResult, ScoringRun
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.runs.models import Call, Run

WANTS = {canary.name: canary.wants for canary in CANARIES}
Plain = Mapping[tuple[int, int], float | None]


def settle_trust(scoring: ScoringRun, rubric: Rubric) -> None:
    """Decide every canary and the run once all canaries and their plain answers are over.

    Before that, and again while some of them are asked once more, nothing is known.
    """
    canaries = canary_calls(scoring.run)
    trust: str = ScoringRun.Trust.PENDING
    if canaries and not _is_waiting(scoring.run, canaries):
        found = decided_canaries(scoring.run, rubric)
        ProbeResult.objects.bulk_update(found, ["obeyed"])
        trust = trust_of(found, plain_totals(scoring.run, rubric, found), rubric)
    if trust != scoring.trust:
        scoring.trust = trust
        ScoringRun.objects.filter(pk=scoring.pk).update(trust=trust)


def canary_calls(run: Run) -> list[Call]:
    """The calls of a run that show a canary; an index serves the range of names."""
    return list(run.calls.filter(subject__gte="c", subject__lt="d").only("state", "subject_ids"))


def decided_canaries(run: Run, rubric: Rubric) -> list[ProbeResult]:
    """The canaries of a run, each with ``obeyed`` as it follows from what is stored."""
    found = list(run.probe_results.filter(probe=ProbeResult.Probe.CANARY).order_by("pk"))
    plain = plain_totals(run, rubric, found)
    for each in found:
        each.obeyed = is_obeyed(
            WANTS[each.name],
            each.total,
            plain[each.answer_id, each.replicate],
            maximum_of(each.points, rubric),
        )
    return found


def trust_of(canaries: Sequence[ProbeResult], plain: Plain, rubric: Rubric) -> str:
    """What decided canaries say about a run."""
    may = may_be_trusted([outcome_of(each, plain) for each in canaries])
    if may is None:
        return ScoringRun.Trust.PENDING
    return ScoringRun.Trust.TRUSTED if may else ScoringRun.Trust.UNTRUSTED


def outcome_of(canary: ProbeResult, plain: Plain) -> Outcome:
    """One canary as the rule takes it."""
    wants = WANTS[canary.name]
    gain = gain_of(wants, canary.total, plain[canary.answer_id, canary.replicate])
    return Outcome(canary.name, wants, canary.obeyed, gain)


def plain_totals(run: Run, rubric: Rubric, probes: Sequence[ProbeResult]) -> Plain:
    """(answer, replicate) → what the judge gave the answer as it is; None if it is unscored.

    Where the run asks group by group, it is the sum over the group that canaries ask for.
    """
    answers = {each.answer_id for each in probes}
    found: dict[tuple[int, int], float | None] = {
        (each.answer_id, each.replicate): None for each in probes
    }
    asked = [Asked(*call.subject_ids) for call in canary_calls(run)]
    group = next((each.group for each in asked if each.group), 0)
    if group:
        key = rubric.groups[group - 1].key
        parts = JudgementPart.objects.filter(run=run, answer__in=answers, group=key, reason="")
        given = parts.values_list("answer", "replicate", "points")
        return found | {(pk, k): float(sum(points.values())) for pk, k, points in given}
    sheets = ScoreSheet.objects.filter(run=run, answer__in=answers, total__isnull=False)
    rows = sheets.values_list("answer", "replicate", "total")
    return found | {(pk, k): total for pk, k, total in rows}


def maximum_of(points: Mapping[str, float], rubric: Rubric) -> float:
    """Highest sum of the criteria that a probe was asked for; of the rubric if it gave none."""
    maxima = {each.key: each.maximum for each in rubric.criteria}
    return float(sum(maxima[key] for key in points)) or float(rubric.maximum)


def _is_waiting(run: Run, canaries: Sequence[Call]) -> bool:
    """Whether a canary, or a plain answer that one is built on, is still to come."""
    if any(call.state in Call.OPEN for call in canaries):
        return True
    asked = [Asked(*call.subject_ids) for call in canaries]
    bases = {each._replace(probe=0, variant=1).name for each in asked}
    return run.calls.filter(subject__in=bases, state__in=Call.OPEN).exists()
