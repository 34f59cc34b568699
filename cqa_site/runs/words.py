"""What the ledger's short names mean, in sentences for people."""

from decimal import Decimal

from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from cqa_site.judging.chat import Failure
from cqa_site.judging.extraction import Unscored

from .models import Run

FAILURES: dict[str, Promise] = {
    Failure.THROTTLED: lazy("The endpoint kept asking to slow down."),
    Failure.QUOTA: lazy("The account at the endpoint has no credit left."),
    Failure.DENIED: lazy("The endpoint refused the key."),
    Failure.KEY: lazy("The key of the endpoint cannot be read."),
    Failure.SERVER: lazy("The endpoint reported an error of its own."),
    Failure.CONNECTION: lazy("The endpoint could not be reached."),
    Failure.TIMEOUT: lazy("No reply came within the deadline."),
    Failure.REQUEST: lazy("The endpoint refused the request as invalid."),
    Failure.PARAMETER: lazy("The endpoint refuses a parameter of the request."),
    Failure.BLOCKED: lazy(
        "This server may not send requests to that address. Its operator allows one through "
        "EGRESS_ALLOW."
    ),
    Failure.TOO_LARGE: lazy("The reply was larger than allowed, or compressed."),
    Failure.GARBAGE: lazy("What came back was no chat reply."),
    Failure.CERTIFICATE: lazy("The certificate of the endpoint could not be verified."),
}
UNUSABLE: dict[str, Promise] = {
    Unscored.EMPTY: lazy("The reply was empty, or held reasoning only."),
    Unscored.TRUNCATED: lazy("The reply was cut by the token limit."),
    Unscored.REFUSED: lazy("The model declined to answer."),
    Unscored.NO_JSON: lazy("The reply held no JSON object."),
    Unscored.AMBIGUOUS: lazy("The reply held two different answers."),
    Unscored.NOT_SCHEMA: lazy("The reply was JSON of another shape."),
    Unscored.OUT_OF_SET: lazy(
        "The reply is outside of what was asked for: off the scale, or far too many."
    ),
    Unscored.MISSING_ITEM: lazy("The reply left an item of the batch out."),
    Unscored.EXTRA_ITEM: lazy("The reply labelled an item nobody asked about."),
    Unscored.DUPLICATE_ITEM: lazy("The reply labelled an item of the batch twice."),
    Unscored.WRONG_TYPE: lazy("The label was no whole number."),
}
# Of replies with points for several criteria.
POINTS: dict[str, Promise] = {
    "duplicate_keys": lazy("The reply gave points for a criterion twice."),
    "renumbered": lazy("The reply numbered the criteria on its own."),
    "missing_keys": lazy("The reply left a criterion out."),
    "extra_keys": lazy("The reply gave points for something nobody asked about."),
    "not_a_whole_number": lazy("The reply gave something else than whole points."),
    "out_of_range": lazy("The reply gave points that a criterion does not have."),
}
# Of replies that end with a count.
COUNTS: dict[str, Promise] = {
    "no_count": lazy("The reply had no line with a count in the asked form."),
    "no_half_step": lazy("The count was no multiple of one half."),
}
REASONS: dict[str, Promise] = (
    FAILURES
    | UNUSABLE
    | POINTS
    | COUNTS
    | {"poison": lazy("The worker died repeatedly while this request was on its way.")}
)
TEXT_FLAGS: dict[str, Promise] = {
    "control": lazy("control characters taken out"),
    "surrogate": lazy("broken characters taken out"),
    "bidi": lazy("marks that change the writing direction taken out"),
    "zero_width": lazy("invisible characters taken out"),
    "variation": lazy("variation selectors taken out"),
    "tag": lazy("hidden tag characters taken out"),
    "format": lazy("formatting characters taken out"),
    "addresses_judge": lazy("wording that seems meant for the judge"),
    "cut": lazy("text cut because it is too long"),
}
PROBLEMS: dict[str, Promise] = {
    "invalid": lazy("Fewer than nine in ten sample replies were readable."),
    "constant": lazy("Every sample reply gave the same result."),
    "dominant": lazy("One result makes up most of the sample: read some of its replies."),
    "alike": lazy("The sample's texts are nearly the same, whatever was asked."),
    "cap": lazy("At this cost the whole run would pass its cap."),
}
CAPABILITIES: dict[str, Promise] = {
    "token_limit": lazy("cuts a reply at a token limit"),
    "temperature": lazy("takes a temperature"),
    "json_schema": lazy("keeps to a JSON schema"),
    "seed": lazy("takes a seed"),
    "logprobs": lazy("gives token probabilities"),
    "n": lazy("gives several answers to one request"),
}


def reason_in_words(name: str) -> str:
    """Why a call is unscored, or an attempt failed."""
    if name.startswith("parser_"):
        return _("The reply broke the parser (%s).") % name.removeprefix("parser_")
    return str(REASONS.get(name, name))


def failure_in_words(text: str) -> str:
    """A stored failure such as ``denied: The key was refused`` as a sentence."""
    name, _colon, detail = text.partition(": ")
    if name not in FAILURES:
        return text
    return f"{FAILURES[name]} {_as_sentence(detail)}".strip()


def _as_sentence(detail: str) -> str:
    """What a library or an endpoint said: its names of parameters stay as they are."""
    if not detail:
        return ""
    first = detail.partition(" ")[0]
    said = capfirst(detail) if first.isalpha() else detail
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."


def pause_in_words(run: Run) -> str:
    """Why a run is paused and what to do about it."""
    if run.pause_reason == "person":
        return _("Somebody paused it. Nothing more is sent until it is resumed.")
    if run.pause_reason == Run.RESTORED:
        return _(
            "The site was restored from a backup that was made while this run was under way. "
            "Nothing is sent until it is resumed; if another copy of the site goes on with it, "
            "both pay."
        )
    if run.pause_reason == "budget":
        return _("The money left does not pay for another request. Raise the cap, then resume.")
    if can_be_corrected(run):
        return _("%s Correct it below; the run goes on from where it is, and nothing is lost.") % (
            failure_in_words(run.pause_reason)
        )
    if run.pause_reason.startswith(f"{Failure.CONNECTION}:"):
        return _(
            "%s Resume once it answers; nothing is lost. If its address is wrong, cancel the run, "
            "correct the endpoint and start again."
        ) % failure_in_words(run.pause_reason)
    return _("%s Put it right, then resume; nothing is lost.") % failure_in_words(run.pause_reason)


def can_be_corrected(run: Run) -> bool:
    """Whether a run is paused because the endpoint refuses what it sends."""
    kind = run.pause_reason.partition(":")[0]
    return run.state == Run.State.PAUSED and kind in (Failure.PARAMETER, Failure.REQUEST)


def price(units: Decimal) -> str:
    """A price per million tokens without idle zeros."""
    return f"{units.normalize():f}" if units else "0"


def state_in_words(run: Run) -> str:
    """What a run does now."""
    sentences: dict[str, str] = {
        Run.State.DRAFT: _(
            "It is queued: a worker writes down the requests first; nothing has been sent yet."
        ),
        Run.State.CHECKING: _("A small sample goes first. The rest waits for what it shows."),
        Run.State.CHECKED: _("The sample is back. Nothing more is sent until you decide."),
        Run.State.RUNNING: _("Requests are being sent."),
        Run.State.DONE: _("Every request is answered or given up with a reason."),
        Run.State.CANCELLED: _("It was cancelled. Replies that came back are kept."),
    }
    return pause_in_words(run) if run.state == Run.State.PAUSED else sentences[run.state]
