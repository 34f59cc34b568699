"""Counting rounds for tests, and forms as people fill them in."""

from argsum.counting.actions import rounds as counting_rounds
from argsum.counting.models import CountingRound
from cqa_site.people.models import Study, User
from cqa_site.rounds.lifecycle import open_round


def open_counting(study: Study, actor: User, *, opens: bool = True, **fields) -> CountingRound:
    """A round over all sets of the study, drawn and opened as a researcher does."""
    chosen = {"name": "First round", "seed": 1, "raters": 1, "per_cell": "all"} | fields
    plan = counting_rounds.CountingPlan(**chosen)
    made = counting_rounds.plan_round(study=study, plan=plan, actor=actor)
    if opens:
        open_round(round_=made, actor=actor)
    made.refresh_from_db()
    return made


def marked_form(**changed: str | list[str]) -> dict:
    """Two references, three summaries: 1.5 covered; the third partly repeats the first: 2.5."""
    fields = {"level-0": "full", "by-0": ["0", "2"], "level-1": "part", "by-1": ["1"]}
    fields |= {"group-0": "A", "group-1": "B", "group-2": "C", "partly-2": "1"}
    return fields | {"base_version": "0"} | changed
