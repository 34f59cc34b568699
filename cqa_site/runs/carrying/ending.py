"""What happens when the calls of a run are over: the pre-flight's report, the end, the message."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import Avg, Count, Q, Sum
from django.db.models.functions import Now

from cqa_site.runs import jobs
from cqa_site.runs.models import Attempt, Call, Run

from ..kinds import kind_of
from ..planning.spread import ENOUGH_TEXTS, MOST, Dominant, are_alike, dominant, dominates

ENOUGH_VALID = 0.9


def end(run: Run, state: str) -> None:
    """Move a working run to ``checked`` or ``done``; call under the gate's lock."""
    if state == Run.State.CHECKED:
        _finish_preflight(run)
        return
    changed = Run.objects.filter(pk=run.pk, state__in=Run.WORKING).update(
        state=state, ended_at=Now(), pause_reason=""
    )
    if changed:
        run.state = state
        announce(run)


def announce(run: Run) -> None:
    """Ask for the signed message about a run that ended, if it has an address.

    In the transaction that ends the run: a process that dies after it forgets no message.
    """
    if run.webhook_url:
        jobs.enqueue(
            study=run.study, kind="run_webhook", key=str(run.public_id), run=str(run.public_id)
        )


def _finish_preflight(run: Run) -> None:
    report = preflight_report(run)
    more = run.calls.filter(state__in=Call.OPEN).exists()
    goes_on = run.spec["preflight"] == "auto" and report["passed"]
    state = Run.State.RUNNING if more and goes_on else Run.State.CHECKED
    if not more:
        state = Run.State.DONE
    Run.objects.filter(pk=run.pk, state=Run.State.CHECKING).update(
        state=state,
        preflight=report,
        **({"ended_at": Now()} if state == Run.State.DONE else {}),
    )
    run.state, run.preflight = state, report
    if state == Run.State.DONE:
        announce(run)


def preflight_report(run: Run) -> dict[str, Any]:
    """What the canary calls showed, and whether going on looks right.

    ``passed`` needs at least nine in ten readable, more than one value among them and none that
    dominates (for prose: texts that are not all alike), and a projected cost within the cap.
    """
    canary = run.calls.filter(is_canary=True)
    counts = canary.aggregate(
        n=Count("pk"),
        valid=Count("pk", filter=Q(state=Call.State.DONE)),
        asked_again=Count("pk", filter=Q(format_tries__gt=0)),
    )
    money = Attempt.objects.filter(call__in=canary).aggregate(
        cost=Sum("cost_micro"), milliseconds=Avg("milliseconds", filter=Q(outcome="replied"))
    )
    reasons = dict(
        canary.exclude(reason="").values_list("reason").annotate(Count("pk")).order_by("reason")
    )
    kind = kind_of(run)
    values = kind.values(run)
    often = None if kind.dominance is None else dominant(values)
    projected = round((money["cost"] or 0) / max(1, counts["n"]) * run.planned)
    cap = run.budget.cap_micro
    spread = _spread(values, often, kind.dominance) if often else _told_apart(kind.texts(run))
    problems = _problems(counts, spread, projected, cap)
    return {
        **counts,
        "values": values,
        "dominant": asdict(often) if often else None,
        "reasons": reasons,
        "milliseconds": round(money["milliseconds"] or 0),
        "cost_micro": money["cost"] or 0,
        "projected_micro": projected,
        "problems": problems,
        "passed": not problems,
    }


def _spread(values: dict[str, int], often: Dominant, share: float | None) -> str:
    """What speaks against values on a scale."""
    if len(values) == 1 and often.of >= ENOUGH_TEXTS:
        return "constant"
    return "dominant" if dominates(often, share or MOST) else ""


def _told_apart(texts: Sequence[str]) -> str:
    """What speaks against prose: lengths may well be equal, texts may not."""
    return "alike" if are_alike(texts) else ""


def _problems(counts: dict[str, int], spread: str, projected: int, cap: int | None) -> list[str]:
    """Names of what speaks against going on; pages put them into words."""
    found = []
    if counts["valid"] < ENOUGH_VALID * counts["n"]:
        found.append("invalid")
    if spread:
        found.append(spread)
    if cap is not None and projected > cap:
        found.append("cap")
    return found
