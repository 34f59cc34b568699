"""A request of a run written again from what is stored now."""

from copy import copy
from dataclasses import dataclass

from cqa_site.judging.chat import ChatRequest
from cqa_site.judging.estimating import estimate_messages

from ..ledger.claiming import key_of, planned_key, questions_for, request_of
from ..models import Call, Run


@dataclass(frozen=True, slots=True)
class Asked:
    """The request, its size in tokens, what was noticed, and whether it is what left."""

    request: ChatRequest
    flags: tuple[str, ...]
    is_same: bool
    tokens: int


def asked_again(run: Run, call: Call) -> Asked | None:
    """The first request of a call as it would be written today; None if an item is gone."""
    first = copy(call)
    first.token_limit = 0
    try:
        question = questions_for(run, [first])[0]
    except KeyError:
        return None
    request = request_of(run, first, question)
    key = key_of(run, first, request)
    is_same = planned_key(run, first, question, key) == call.content_key
    return Asked(request, question.flags, is_same, estimate_messages(request.messages))
