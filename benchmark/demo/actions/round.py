"""An open scoring round for the demo: a few invented answers, one of them for practice."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from annotation.answers.models.answers import Answer
from benchmark.rubrics.actions import default_rubric
from benchmark.scoring.actions.rounds import Plan, plan_round, set_example
from cqa_site.people.models import Role, Study, User
from cqa_site.rounds.opening import open_round

SEED = 5
# Our own judgement of the practice answer, where it is not full points.
LESS = {"C3": 0, "C9": 1, "C10": 1, "C15": 0}
WHY = {
    "C3": "The introduction begins with details instead of naming the aspects that follow.",
    "C9": "Most arguments bear on the choice; how green tea is spoiled hardly does.",
    "C10": "The last bullets set two opinions side by side, each about one drink only.",
    "C14": "Two of three weighty aspects speak for tea, and tea is chosen.",
    "C15": "It is shorter than 12 sentences.",
}


def add_round(*, study: Study, users: Mapping[str, User]) -> None:
    """Open a round over the answers of the demo."""
    actor = users[Role.RESEARCHER]
    rubric = default_rubric(study, actor=actor)
    plan = Plan(
        name=_("Score answers (demo)"),
        rubric=rubric,
        seed=SEED,
        overlap_share=1.0,
        pass_mark=0.5,
        instructions=_(
            "Read the whole answer first, then go through the criteria from top to bottom. "
            "All answers of this round are invented; judge them as if they were not."
        ),
    )
    made = plan_round(study=study, plan=plan, actor=actor)
    practice = study.answers.filter(scenario=Answer.Scenario.FULL).order_by("pk").first()
    if practice is not None:
        key: dict[str, float] = {each.key: each.maximum for each in rubric.rubric.criteria}
        key |= LESS
        set_example(round_=made, answer=practice, points=key, notes=WHY)
    open_round(round_=made, actor=actor)
