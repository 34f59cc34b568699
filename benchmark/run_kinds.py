"""The kind of run of this app, and where its parts are."""

from django.utils.translation import gettext_lazy as lazy

from cqa_site.runs.kind_parts import Home, KindParts, describe
from cqa_site.runs.kinds import register


def register_kinds() -> None:
    """Tell the engine and the pages about it; nothing is imported yet."""
    register("scoring", "benchmark.actions.scoring_judge.ScoringKind")
    describe("scoring", SCORING)


SCORING = KindParts(
    name=lazy("Scores by a judge"),
    prompts="benchmark.actions.judge_prompts.PROMPTS",
    tried_on="benchmark.actions.judge_preview.SCORING",
    subjects="benchmark.reports.scoring_calls.SCORING",
    page="benchmark.views.scoring_run.run_page",
    start="benchmark.api.scoring_starts.SCORING",
    home=Home("scores", "scoring_runs", lazy("Scores by judges")),
)
