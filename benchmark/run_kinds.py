"""The kinds of runs of this app, and where their parts are."""

from django.utils.translation import gettext_lazy as lazy

from cqa_site.runs.kind_parts import Home, KindParts, describe
from cqa_site.runs.kinds import register


def register_kinds() -> None:
    """Tell the engine and the pages about them; nothing is imported yet."""
    register("scoring", "benchmark.actions.scoring_judge.ScoringKind")
    describe("scoring", SCORING)
    register("preferring", "benchmark.preferences.judge.PreferringKind")
    describe("preferring", PREFERRING)


SCORING = KindParts(
    name=lazy("Scores by a judge"),
    prompts="benchmark.actions.judge_prompts.PROMPTS",
    tried_on="benchmark.actions.judge_preview.SCORING",
    subjects="benchmark.reports.scoring_calls.SCORING",
    page="benchmark.views.scoring_run.run_page",
    start="benchmark.api.scoring_starts.SCORING",
    home=Home("scores", "scoring_runs", lazy("Scores by judges")),
)
PREFERRING = KindParts(
    name=lazy("Preferences of a judge"),
    prompts="benchmark.preferences.judge.PROMPTS",
    tried_on="benchmark.preferences.judge.PREVIEWED",
    subjects="benchmark.preferences.judge.SUBJECTS",
    page="benchmark.preferences.judge_pages.run_page",
    start="benchmark.preferences.api.START",
    home=Home("scores", "preference_runs", lazy("Preferences of judges")),
)
