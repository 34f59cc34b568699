"""Counting rounds: draw, open, close; who has done what in them."""

from typing import Any

from argsum.counting.actions.guide import GUIDE
from argsum.counting.actions.kind import COUNTING
from argsum.counting.actions.rounds import plan_of, plan_round
from argsum.counting.forms.rounds import RoundForm
from argsum.counting.models import CountingRound
from cqa_site.rounds.api import RoundApi, round_views

from . import bodies


def _plan_of(counting_round: CountingRound) -> dict[str, Any]:
    plan = plan_of(counting_round)
    return plan | {"dataset": plan["dataset"] and plan["dataset"].public_id}


ROUNDS = round_views(
    RoundApi(
        kind=COUNTING,
        form=RoundForm,
        planned=plan_round,
        plan_of=_plan_of,
        plan=bodies.CountingRoundInput,
        decision=bodies.CounterInput,
        shown=bodies.CountingRoundSerializer,
        item=bodies.CountingItemSerializer,
        person=bodies.CounterSerializer,
        usual=lambda study: {"instructions": GUIDE},
    ),
    "counting_id",
)
