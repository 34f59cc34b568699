"""Turns of the ledger, one at a time, with replies made by hand."""

from datetime import timedelta

from cqa_site.judging.chat import CallFailed, ChatReply, Failure
from cqa_site.runs.ledger.replies import FinishedRequest, read
from cqa_site.runs.ledger.turns import Turn, take_turn
from cqa_site.runs.models import Call, Run
from cqa_site.runs.planning import write_calls
from tests.runs.judging import Lab, good

A_DAY = timedelta(days=1)


def planned(lab: Lab, **values) -> Run:
    """A run whose calls are written and of which nothing was sent."""
    run = lab.start(**values)
    write_calls(run)
    return run


def turn(lab: Lab, worker: str = "a", room: int = 512, **values) -> Turn:
    return take_turn(lab.endpoint, worker, Turn(**values), room)


def replies(sent: list, text: str = "") -> list[FinishedRequest]:
    text = text or good()
    return [
        FinishedRequest(one, reply=ChatReply(text, "stop", "m", tokens_in=100, tokens_out=10))
        for one in sent
    ]


def failures(sent: list, kind: Failure) -> list[FinishedRequest]:
    return [FinishedRequest(one, failure=CallFailed(kind, "no")) for one in sent]


def readings(after: Turn) -> list:
    return [(run, one) for run, calls in after.to_read for one in read(run, calls)]


def change(calls, **values) -> None:
    Call.objects.filter(pk__in=[one.call.pk for one in calls]).update(**values)


def states(run: Run) -> dict[str, int]:
    found: dict[str, int] = {}
    for state in run.calls.values_list("state", flat=True):
        found[state] = found.get(state, 0) + 1
    return found
