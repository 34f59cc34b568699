"""An editing round for the demo study: its expert finds answers on the desk."""

from django.utils.translation import gettext as _

from annotation.answers.models.answers import Answer
from annotation.editing.actions.rounds import Plan, plan_round
from annotation.editing.models import EditingRound
from cqa_site.people.models import Study, User
from cqa_site.rounds.opening import open_round

SEED = 7


def demo_round(*, study: Study, expert: User, researcher: User) -> EditingRound:
    """Open a round with every answer that was written with arguments and a structure."""
    plan = Plan(
        name=_("Gold answers"),
        seed=SEED,
        experts=(expert,),
        calibration=study.answers.filter(scenario=Answer.Scenario.FULL).count(),
        individual=0,
        scenario=Answer.Scenario.FULL,
        instructions=_(
            "Keep what is right and say it clearly. Every claim cites the argument that it rests "
            "on; take out what no argument supports."
        ),
    )
    planned = plan_round(study=study, plan=plan, actor=researcher)
    open_round(round_=planned, actor=researcher)
    return planned
