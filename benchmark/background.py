"""Background work of this app: kinds of runs with their pages, and job handlers."""

from django.utils.translation import gettext_lazy as lazy

from benchmark.judges import reports as judge_reports
from benchmark.judges.actions import kind as scoring_judge
from benchmark.leaderboard import actions as leaderboard_actions
from benchmark.preferences import kind
from cqa_site.runs.jobs import handles
from cqa_site.runs.kinds import Home, RunKind, register


def register_kinds() -> None:
    """Register the run kinds."""
    register(ScoringRunKind())
    register(PreferenceRunKind())


class ScoringRunKind(scoring_judge.ScoringKind, RunKind):
    """Run kind in which a language model scores answers with a rubric."""

    name = scoring_judge.KIND
    title = lazy("Scores by a judge")
    home = Home("judges", "scoring_runs", lazy("Scores by judges"))
    prompts = scoring_judge.PROMPTS
    tried_on = scoring_judge.SCORING
    call_subjects = judge_reports.SCORING
    view_path = "benchmark.judges.views.run_page"
    start_path = "benchmark.judges.api.SCORING"


class PreferenceRunKind(kind.PreferringKind, RunKind):
    """Run kind in which a language model compares pairs of answers."""

    name = kind.KIND
    title = lazy("Preferences of a judge")
    home = Home("judges", "preference_runs", lazy("Preferences by judges"))
    prompts = kind.PROMPTS
    tried_on = kind.PREVIEWED
    call_subjects = kind.SUBJECTS
    view_path = "benchmark.preferences.views.run_page"
    start_path = "benchmark.preferences.api.START"


# Job handlers

handles(leaderboard_actions.JOB)(leaderboard_actions.make_board)
handles(leaderboard_actions.SLICE_JOB)(leaderboard_actions.make_slice)
