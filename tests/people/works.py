"""Work of three kinds: how a round of each is made, and what a filled-in form of it sends."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from cqa_site.rounds.kind import kind_of
from tests.argsum.counting.made_counting import marked_form, open_counting
from tests.argsum.made_cells import make_dataset, make_set
from tests.benchmark.made_rounds import full_form, make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_preferences import make_pairs_round

JSON = {"HTTP_ACCEPT": "application/json"}


@dataclass(frozen=True)
class Work:
    """How a round of a kind is made, and what a filled-in form of it sends."""

    fill: Callable[[Any], Any]
    round_: Callable[..., Any]
    form: Callable[[], dict[str, Any]]
    # Fields of a round in which everything goes to several people.
    several: dict[str, Any]


def fill_sets(study):
    for cell in make_dataset(study).cells.all():
        for system in ("Alpha", "Beta"):
            make_set(cell, system=system)


def fill_answers(study):
    make_scored_answers(study, systems=("Alpha", "Beta", "Gamma"), questions=4)


WORKS = {
    "score": Work(fill_answers, make_round, full_form, {"overlap_share": 1.0}),
    "count": Work(fill_sets, open_counting, marked_form, {"raters": 3}),
    "prefer": Work(fill_answers, make_pairs_round, lambda: {"verdict": "left"}, {"raters": 3}),
}


def address(name, round_, *ids):
    return reverse(name, args=[round_.study.public_id, *ids])


def work_page(round_):
    return address(kind_of(round_).work_page, round_, round_.public_id)


def sheet_at(round_, reply):
    public_id = reply["Location"].rstrip("/").rsplit("/", 1)[1]
    return kind_of(round_).Sheet.objects.get(public_id=public_id)
