"""Counting rounds: draw, open, close; who has done what in them."""

from cqa_site.rounds.api.bodies import ExclusionInput
from cqa_site.rounds.api.rounds import RoundApi, round_views

from . import bodies

ROUNDS = round_views(
    RoundApi(
        plan=bodies.CountingRoundInput,
        decision=ExclusionInput,
        shown=bodies.CountingRoundSerializer,
        item=bodies.CountingItemSerializer,
        person=bodies.CounterSerializer,
    ),
    "counting_id",
)
