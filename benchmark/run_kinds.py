"""The kinds of runs of this app: what the engine asks of them, and what is shown of them."""

from django.utils.translation import gettext_lazy as lazy

from benchmark.judges.actions import kind as scoring_judge
from benchmark.judges.actions import preview as judge_preview
from benchmark.judges.actions import prompts as judge_prompts
from benchmark.judges.reports import calls as scoring_calls
from benchmark.preferences import judge
from cqa_site.runs.kind_parts import Home
from cqa_site.runs.kinds import RunKind, register


def register_kinds() -> None:
    """Make them known."""
    register(Scoring())
    register(Preferring())


class Scoring(scoring_judge.ScoringKind, RunKind):
    """A language model scores answers by a rubric."""

    name = scoring_judge.KIND
    title = lazy("Scores by a judge")
    home = Home("judges", "scoring_runs", lazy("Scores by judges"))
    prompts = judge_prompts.PROMPTS
    tried_on = judge_preview.SCORING
    call_subjects = scoring_calls.SCORING
    view_path = "benchmark.judges.views.run.run_page"
    start_path = "benchmark.judges.api.starts.SCORING"


class Preferring(judge.PreferringKind, RunKind):
    """A language model compares pairs of answers."""

    name = judge.KIND
    title = lazy("Preferences of a judge")
    home = Home("judges", "preference_runs", lazy("Preferences by judges"))
    prompts = judge.PROMPTS
    tried_on = judge.PREVIEWED
    call_subjects = judge.SUBJECTS
    view_path = "benchmark.preferences.judge_pages.run_page"
    start_path = "benchmark.preferences.api.START"
