"""Correction of a run's parameters if the endpoint refuses them or replies are cut off.

The frozen plan does not change. A correction is stored as an amendment, with its time, person and
reason, the parameters before and after, and the number of calls with a value at that time. Every
attempt stores the number of amendments made before it, so that earlier and later replies can be
distinguished. Requests that have a value or were paid for are not sent again.
"""

from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from cqa_site.judging.chat import Failure
from cqa_site.judging.endpoint_responses import SCHEMA, TOKEN_LIMITS
from cqa_site.judging.endpoints import cost_micro
from cqa_site.judging.extraction import UnscoredReason
from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.runs import jobs
from cqa_site.runs.ledger.gates import locked_gate, prices_of
from cqa_site.runs.models import Call, Run
from cqa_site.runs.progress import can_be_corrected
from .runs import RunRefused, reopen, state_to_resume

MOST_TOKENS = 100_000


@dataclass(frozen=True, slots=True)
class Correction:
    """Changes to the requests that a run sends from now on.

    Parameters
    ----------
    leave_out
        Names of parameters to leave out; ``response_format`` means the JSON schema.
    token_parameter
        Name of the token limit in requests; empty keeps the current name.
    values
        Name → new value, for parameters that are already sent. A token limit can only be lowered.
        If it cut off replies, however, it can only be raised, and nothing else can change.
    """

    leave_out: tuple[str, ...] = ()
    token_parameter: str = ""
    values: dict[str, Any] = field(default_factory=dict)


def refused_parameter(run: Run) -> str:
    """Return the parameter that caused a pause; empty if the endpoint did not name it."""
    kind, _colon, rest = run.pause_reason.partition(": ")
    return rest.partition(":")[0] if kind == Failure.PARAMETER else ""


def sent_names(run: Run) -> list[str]:
    """Return names that can be left out: the schema and all parameters except the token limit."""
    names = [name for name in run.params if name not in TOKEN_LIMITS]
    return [*names, SCHEMA] if run.uses_schema else names


def suggested(run: Run) -> Correction:
    """Suggest corrections for parameters that the endpoint refused in its probe or last error."""
    fitted, left_out = run.endpoint.fitted(run.params)
    refused = refused_parameter(run)
    token = next((name for name in TOKEN_LIMITS if name in fitted), "")
    if refused == token:
        token = next(name for name in TOKEN_LIMITS if name != refused)
    dropped = {*left_out, refused} & set(sent_names(run))
    return Correction(leave_out=tuple(sorted(dropped)), token_parameter=token)


@transaction.atomic
def correct_run(*, run: Run, actor: User, correction: Correction) -> None:
    """Correct a run's requests, and continue the run; raises RunRefused."""
    with locked_gate(run.endpoint):
        run = Run.objects.select_for_update(of=("self",)).get(pk=run.pk)
        is_cut = not can_be_corrected(run)
        if is_cut and not tight_limit(run):
            raise RunRefused(
                "Only a run that is paused because the endpoint refuses its requests, or "
                "that is not running and has cut replies, can be corrected."
            )
        params, uses_schema = raised(run, correction) if is_cut else corrected(run, correction)
        if (params, uses_schema) == (run.params, run.uses_schema):
            raise RunRefused("This changes nothing; the endpoint would refuse the request again.")
        amendment = {
            "number": len(run.amendments) + 1,
            "at": timezone.now().isoformat(timespec="seconds"),
            "by": str(actor),
            "reason": UnscoredReason.TRUNCATED if is_cut else run.pause_reason,
            "before": {"params": run.params, "use_schema": run.uses_schema},
            "params": params,
            "use_schema": uses_schema,
            "done_before": run.calls.filter(state=Call.State.DONE).count(),
        }
        if is_cut:
            _ask_cut_again(run, params)
        else:
            _ask_refused_again(run)
        run.amendments = [*run.amendments, amendment]
        if run.state == Run.State.DONE:
            reopen(run)
        # A pre-flight with cut-off replies is repeated.
        elif run.state == Run.State.CHECKED:
            run.state, run.preflight = Run.State.CHECKING, {}
        else:
            run.state = state_to_resume(run)
        run.pause_reason = ""
        run.save(update_fields=["amendments", "state", "pause_reason", "preflight"])
    record(
        study=run.study,
        actor=actor,
        verb="run_corrected",
        subject=f"#{run.number}",
        params=params,
        use_schema=uses_schema,
    )
    transaction.on_commit(jobs.ring)


def corrected(run: Run, correction: Correction) -> tuple[dict[str, Any], bool]:
    """Return the corrected parameters and whether to send a schema; raises RunRefused."""
    known = sent_names(run)
    if unknown := sorted({*correction.leave_out} - {*known}):
        raise RunRefused(f"“{unknown[0]}” is not sent, so it cannot be left out.")
    params = {name: run.params[name] for name in run.params if name not in correction.leave_out}
    if correction.token_parameter:
        if correction.token_parameter not in TOKEN_LIMITS:
            raise RunRefused(f"The token limit parameter must be {' or '.join(TOKEN_LIMITS)}.")
        # Keep the first limit, and drop a second name for the same limit.
        limits = [params.pop(name) for name in TOKEN_LIMITS if name in params]
        params[correction.token_parameter] = limits[0]
    for name, value in correction.values.items():
        if name not in params:
            raise RunRefused(f"“{name}” is not sent, so its value cannot be changed.")
        if name in TOKEN_LIMITS and not (type(value) is int and 1 <= value <= params[name]):
            raise RunRefused(f"“{name}” can be {params[name]} at most, as in the cost estimate.")
        params[name] = value
    return params, run.uses_schema and SCHEMA not in correction.leave_out


def tight_limit(run: Run) -> str:
    """Return the name of the token limit if an idle run has cut-off replies; otherwise empty."""
    is_still = run.state in (*Run.WAITING, Run.State.DONE)
    if not is_still or not _cut(run).exists():
        return ""
    return next((name for name in TOKEN_LIMITS if name in run.params), "")


def raised(run: Run, correction: Correction) -> tuple[dict[str, Any], bool]:
    """Return the same as `corrected`, but with only the token limit raised; raises RunRefused."""
    name = tight_limit(run)
    value = correction.values.get(name)
    if correction != Correction(values={name: value}):
        raise RunRefused(f"Replies in this run were cut off, so you can only raise “{name}”.")
    if type(value) is not int or not run.params[name] < value <= MOST_TOKENS:
        raise RunRefused(
            f"“{name}” is now {run.params[name]:,} and can be raised to {MOST_TOKENS:,} at most."
        )
    return run.params | {name: value}, run.uses_schema


def _ask_cut_again(run: Run, params: dict[str, Any]) -> None:
    """Requeue cut-off calls, and reserve the cost of the higher limit for all waiting calls."""
    _cut(run).update(
        state=Call.State.READY, reason="", finished_at=None, tries=0, format_tries=0, token_limit=0
    )
    more = next(params[name] - run.params[name] for name in TOKEN_LIMITS if name in params)
    run.calls.filter(state=Call.State.READY).update(
        reserve_micro=F("reserve_micro") + cost_micro(0, more, **prices_of(run)),
        tokens_estimated=F("tokens_estimated") + more,
    )


def _cut(run: Run) -> QuerySet[Call]:
    return run.calls.filter(state=Call.State.UNSCORED, reason=UnscoredReason.TRUNCATED)


def _ask_refused_again(run: Run) -> None:
    """Requeue calls that ended because the endpoint refused them; refused calls cost nothing."""
    run.calls.filter(state=Call.State.UNSCORED, reason=Failure.REQUEST).update(
        state=Call.State.READY, reason="", finished_at=None, tries=0, format_tries=0
    )
