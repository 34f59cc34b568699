"""Scoring rounds for tests, with people who score in them."""

from annotation.answers.models import Answer
from benchmark.rubrics.models import default_rubric
from benchmark.scoring import actions as scoring_rounds
from benchmark.scoring.models import ScoringRound
from cqa_site.people.models import Study, User
from cqa_site.rounds.controls import set_example
from cqa_site.rounds.lifecycle import open_round


def make_round(
    study: Study, actor: User, *, examples: tuple[Answer, ...] = (), opens: bool = True, **fields
) -> ScoringRound:
    """A round over all answers of the study but the examples, whose keys are full points."""
    chosen = {"name": "First round", "seed": 1, "overlap_share": 0.0} | fields
    rubric = default_rubric(study)
    plan = scoring_rounds.ScoringPlan(rubric=rubric, **chosen)
    made = scoring_rounds.plan_round(study=study, plan=plan, actor=actor)
    full = {each.key: each.maximum for each in rubric.rubric.criteria}
    for answer in examples:
        set_example(round_=made, thing=answer, known=full, actor=actor)
    if opens:
        open_round(round_=made, actor=actor)
    made.refresh_from_db()
    return made


def full_form(points: str = "1", **changed: str) -> dict[str, str]:
    """Fields of a filled-in form: the same points for every criterion."""
    fields = {f"points-C{number}": points for number in range(1, 16)}
    return fields | {"base_version": "0"} | changed
