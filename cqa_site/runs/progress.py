"""Progress of a run, and the wording of its states and failures."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Min
from django.db.models.functions import Now
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.judging.chat import Failure
from cqa_site.judging.extraction import UnscoredReason
from cqa_site.judging.rate_limits import GateState
from .models import Attempt, Call, Gate, Job, Run

# Current progress of a run, from a few indexed queries

WINDOW = timedelta(seconds=30)
# Failures that close a gate although the endpoint did not ask to wait.
UNANSWERED = (Failure.CONNECTION, Failure.SERVER, Failure.TIMEOUT)


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run's progress: numbers of calls, money in millionths of a unit, times in seconds."""

    planned: int
    done: int
    unscored: int
    waiting: int
    in_flight: int
    cancelled: int
    reasons: dict[str, int] = field(default_factory=dict)
    limit: int = 0
    refusals: int = 0
    per_second: float = 0.0
    spent_micro: int = 0
    reserved_micro: int = 0
    cap_micro: int | None = None
    saved_micro: int = 0
    reused: int = 0
    seconds_left: float | None = None
    oldest_seconds: float | None = None
    opens_in: float = 0.0
    last_failure: str = ""

    @property
    def ended(self) -> int:
        """Number of calls that do not need another request."""
        return self.done + self.unscored + self.cancelled

    @property
    def share(self) -> float:
        """Share of planned calls that ended, 0 to 1."""
        return self.ended / self.planned if self.planned else 0.0

    @property
    def coverage(self) -> float:
        """Share of planned calls with a value, 0 to 1."""
        return self.done / self.planned if self.planned else 0.0


def progress_of(run: Run) -> RunProgress:
    """Return the progress of any run in six queries, or in seven while no replies arrive."""
    states = dict(run.calls.values_list("state").annotate(Count("pk")))
    # One query for the clock and the window, so that both use the database's time.
    now = Run.objects.annotate(now=Now()).values_list("now", flat=True).get(pk=run.pk)
    recent = run.calls.filter(finished_at__gt=now - WINDOW).aggregate(
        n=Count("pk"), first=Min("finished_at")
    )
    per_second = _rate(recent["n"], recent["first"], now) if run.is_working else 0.0
    waiting = states.get(Call.State.READY, 0) + states.get(Call.State.REPLIED, 0)
    in_flight = states.get(Call.State.LEASED, 0)
    gate = _gate(run)
    budget = run.budget
    opens_in = max(0.0, gate.open_until - now.timestamp())
    return RunProgress(
        planned=run.planned,
        done=states.get(Call.State.DONE, 0),
        unscored=states.get(Call.State.UNSCORED, 0),
        waiting=waiting,
        in_flight=in_flight,
        cancelled=states.get(Call.State.CANCELLED, 0),
        reasons=_reasons(run) if states.get(Call.State.UNSCORED) else {},
        limit=min(gate.limit, run.endpoint.max_in_flight, run.ceiling or 10**6),
        refusals=run.refusals,
        per_second=per_second,
        spent_micro=budget.spent_micro,
        reserved_micro=budget.reserved_micro,
        cap_micro=budget.cap_micro,
        saved_micro=run.saved_micro,
        reused=run.reused,
        seconds_left=(waiting + in_flight) / per_second if per_second else None,
        oldest_seconds=_oldest(run, now) if in_flight else None,
        opens_in=opens_in,
        last_failure=_last_failure(run) if opens_in and gate.is_down else "",
    )


def _rate(count: int, first: datetime | None, now: datetime) -> float:
    if not first or count < 2:
        return 0.0
    return count / max(1.0, (now - first).total_seconds())


def _reasons(run: Run) -> dict[str, int]:
    rows = run.calls.filter(state=Call.State.UNSCORED).values_list("reason")
    return dict(rows.annotate(n=Count("pk")).order_by("-n", "reason"))


def _gate(run: Run) -> GateState:
    gate = run.endpoint.original_id or run.endpoint_id
    row = Gate.objects.filter(endpoint=gate).values_list("state", flat=True).first()
    return GateState(**(row or {}))


def _last_failure(run: Run) -> str:
    """Return why the endpoint currently gets no requests, in the form of a pause reason."""
    failed = Attempt.objects.filter(call__run__endpoint=run.endpoint_id, failure__in=UNANSWERED)
    last = failed.order_by("-pk").values_list("failure", "message").first()
    return ": ".join(last) if last else ""


def _oldest(run: Run, now: datetime) -> float | None:
    opened = Attempt.objects.filter(
        call__run=run, call__state=Call.State.LEASED, outcome=Attempt.Outcome.OPEN
    ).aggregate(first=Min("opened_at"))["first"]
    return (now - opened).total_seconds() if opened else None


def add_counts(runs: Iterable[Run]) -> None:
    """Add ``done``, ``unscored``, ``cancelled`` and ``ended`` to each run, with one query.

    If there are drafts, a second query finds out whether their planning failed.
    """
    by_key = {run.pk: run for run in runs}
    for run in by_key.values():
        run.done = run.unscored = run.cancelled = 0
    ended = (Call.State.DONE, Call.State.UNSCORED, Call.State.CANCELLED)
    rows = Call.objects.filter(run__in=by_key, state__in=ended).order_by()
    for pk, state, count in rows.values_list("run", "state").annotate(Count("pk")):
        setattr(by_key[pk], state, count)
    for run in by_key.values():
        run.ended = run.done + run.unscored + run.cancelled
    with_planning(by_key.values())


def with_planning(runs: Iterable[Run]) -> list[Run]:
    """Return the runs, with failed planning marked on drafts.

    Makes one query if there are drafts.
    """
    listed = list(runs)
    drafts = {_planning_key(run): run for run in listed if run.state == Run.State.DRAFT}
    if drafts:
        states = Job.objects.filter(key__in=drafts).order_by("pk").values_list("key", "state")
        for key, state in dict(states).items():
            drafts[key].planning_failed = state == Job.State.FAILED
    return listed


def planning_job(run: Run) -> Job | None:
    """Return the newest job that writes the calls of a draft."""
    return run.study.jobs.filter(key=_planning_key(run)).order_by("-pk").first()


def _planning_key(run: Run) -> str:
    return f"plan_run:{run.public_id}"


# Sentences for the short names in the ledger

FAILURES: dict[str, Promise] = {
    Failure.THROTTLED: lazy("The endpoint kept limiting the request rate."),
    Failure.QUOTA: lazy("The account at the endpoint has no credit left."),
    Failure.DENIED: lazy("The endpoint refused the key."),
    Failure.KEY: lazy("The endpoint's key cannot be used."),
    Failure.SERVER: lazy("The endpoint reported an internal error."),
    Failure.CONNECTION: lazy("The endpoint could not be reached."),
    Failure.TIMEOUT: lazy("No reply arrived within the deadline."),
    Failure.REQUEST: lazy("The endpoint refused the request as invalid."),
    Failure.PARAMETER: lazy("The endpoint refuses a parameter of the request."),
    Failure.BLOCKED: lazy(
        "This site may not send requests to that address. The endpoint's page shows the "
        "EGRESS_ALLOW line that allows them."
    ),
    Failure.TOO_LARGE: lazy("The reply was larger than allowed, or compressed."),
    Failure.GARBAGE: lazy("The response was not a chat reply."),
    Failure.CERTIFICATE: lazy("The endpoint's certificate could not be verified."),
}
UNUSABLE: dict[str, Promise] = {
    UnscoredReason.EMPTY: lazy("The reply was empty, or contained only reasoning."),
    UnscoredReason.TRUNCATED: lazy("The reply was cut off by the token limit."),
    UnscoredReason.UNFINISHED: lazy("The endpoint does not confirm that the reply is complete."),
    UnscoredReason.REFUSED: lazy("The model declined to answer."),
    UnscoredReason.NO_JSON: lazy("The reply contained no JSON object."),
    UnscoredReason.AMBIGUOUS: lazy("The reply contained two different answers."),
    UnscoredReason.NOT_SCHEMA: lazy("The reply was JSON with a different structure."),
    UnscoredReason.OUT_OF_SET: lazy(
        "The reply does not fit the request: a value is outside the scale, or there are far too "
        "many values."
    ),
    UnscoredReason.MISSING_ITEM: lazy("The reply left out an item in the batch."),
    UnscoredReason.EXTRA_ITEM: lazy("The reply labelled an item that was not requested."),
    UnscoredReason.DUPLICATE_ITEM: lazy("The reply labelled an item in the batch twice."),
    UnscoredReason.WRONG_TYPE: lazy("The label was not a whole number."),
}
# Reasons for unscored replies with points for several criteria.
POINTS: dict[str, Promise] = {
    "duplicate_keys": lazy("The reply gave points for a criterion twice."),
    "renumbered": lazy("The reply used its own numbering of the criteria."),
    "missing_keys": lazy("The reply left out a criterion."),
    "extra_keys": lazy("The reply gave points for something that was not requested."),
    "not_a_whole_number": lazy("The reply gave something other than whole points."),
    "out_of_range": lazy("The reply gave a number of points that a criterion does not allow."),
}
# Reasons for unscored replies that end with a count.
COUNTS: dict[str, Promise] = {
    "no_count": lazy("The reply had no line with a count in the requested form."),
    "no_half_step": lazy("The count was not a multiple of one half."),
}
REASONS: dict[str, Promise] = (
    FAILURES
    | UNUSABLE
    | POINTS
    | COUNTS
    | {"poison": lazy("The worker stopped repeatedly while this request was in flight.")}
)
TEXT_FLAGS: dict[str, Promise] = {
    "control": lazy("control characters removed"),
    "surrogate": lazy("broken characters removed"),
    "bidi": lazy("writing-direction marks removed"),
    "zero_width": lazy("invisible characters removed"),
    "variation": lazy("variation selectors removed"),
    "tag": lazy("hidden tag characters removed"),
    "format": lazy("formatting characters removed"),
    "addresses_judge": lazy("wording that seems addressed to the judge"),
    "cut": lazy("text cut because it was too long"),
}
PROBLEMS: dict[str, Promise] = {
    "invalid": lazy("Fewer than nine in ten sample replies were readable."),
    "constant": lazy("Every sample reply gave the same result."),
    "dominant": lazy("One result makes up most of the sample. Read some of these replies."),
    "alike": lazy("The texts in the sample are nearly the same for every request."),
    "cap": lazy("At this cost the whole run would exceed its cap."),
}
CAPABILITIES: dict[str, Promise] = {
    "token_limit": lazy("cuts off replies at a token limit"),
    "temperature": lazy("accepts a temperature"),
    "json_schema": lazy("follows a JSON schema"),
    "seed": lazy("accepts a seed"),
    "logprobs": lazy("returns token probabilities"),
    "n": lazy("returns several answers to one request"),
}


def reason_in_words(name: str) -> str:
    """Explain why a call is unscored or an attempt failed."""
    if name.startswith("parser_"):
        return _("The parser failed on the reply (%s).") % name.removeprefix("parser_")
    return str(REASONS.get(name, name))


def failure_in_words(text: str) -> str:
    """Format a stored failure, such as ``denied: The key was refused``, as a sentence."""
    name, _colon, detail = text.partition(": ")
    if name not in FAILURES:
        return str(UNUSABLE.get(text, text))
    return f"{FAILURES[name]} {_as_sentence(detail)}".strip()


def _as_sentence(detail: str) -> str:
    """Format an error message as a sentence, without changing a leading parameter name."""
    if not detail:
        return ""
    first = detail.partition(" ")[0]
    sentence = capfirst(detail) if first.isalpha() else detail
    return sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."


def pause_in_words(run: Run) -> str:
    """Explain why a run is paused and what to do about it."""
    if run.pause_reason == "person":
        return _("A user paused the run. Nothing more is sent until it is resumed.")
    if run.pause_reason == Run.RESTORED:
        return _(
            "The site was restored from a backup that was made while this run was in progress. "
            "Nothing is sent until it is resumed. If another copy of the site continues the run, "
            "both copies pay."
        )
    if run.pause_reason == "budget":
        return _(
            "The remaining budget does not cover another request. Raise the cap, then resume."
        )
    if can_be_corrected(run):
        return _(
            "%s Correct it below. The run continues from where it stopped, and nothing is lost."
        ) % (failure_in_words(run.pause_reason))
    if run.pause_reason.startswith(f"{Failure.CONNECTION}:"):
        return _(
            "%s Resume once the endpoint answers; nothing is lost. If its address is wrong, "
            "cancel the run, correct the endpoint and start again."
        ) % failure_in_words(run.pause_reason)
    return _("%s Correct this, then resume. Nothing is lost.") % failure_in_words(run.pause_reason)


def can_be_corrected(run: Run) -> bool:
    """Whether a run is paused because the endpoint refuses its requests."""
    kind = run.pause_reason.partition(":")[0]
    return run.state == Run.State.PAUSED and kind in (Failure.PARAMETER, Failure.REQUEST)


def price(units: Decimal) -> str:
    """Format a price per million tokens without trailing zeros."""
    return f"{units.normalize():f}" if units else "0"


def state_in_words(run: Run) -> str:
    """Describe what a run is currently doing."""
    sentences: dict[str, str] = {
        Run.State.DRAFT: _(
            "The run is queued. A worker prepares the requests first. Nothing has been sent yet."
        ),
        Run.State.CHECKING: _(
            "A small sample is being sent first. The rest is waiting for its result."
        ),
        Run.State.CHECKED: _("The sample is complete. Nothing more is sent until you decide."),
        Run.State.RUNNING: _("Requests are being sent."),
        Run.State.DONE: _("Every request was answered or failed with a reason."),
        Run.State.CANCELLED: _("The run was cancelled. Received replies are kept."),
    }
    return pause_in_words(run) if run.state == Run.State.PAUSED else sentences[run.state]
