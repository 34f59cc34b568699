"""The kinds of runs of this app, and where their parts are."""

from django.utils.translation import gettext_lazy as lazy

from cqa_site.runs.kind_parts import Home, KindParts, describe
from cqa_site.runs.kinds import register


def register_kinds() -> None:
    """Tell the engine and the pages about them; nothing is imported yet."""
    register("writing", "argsum.actions.writing.WritingKind")
    describe("writing", WRITING)
    register("counting", "argsum.actions.counting_judge.CountingKind")
    describe("counting", COUNTING)


WRITING = KindParts(
    name=lazy("Key points written"),
    prompts="argsum.actions.writing_prompts.PROMPTS",
    tried_on="argsum.actions.writing_preview.WRITING",
    subjects="argsum.reports.written_calls.WRITING",
    page="argsum.views.writing.run_page",
    start="argsum.api.writing_starts.WRITING",
    home=Home("key_points", "system_runs", lazy("Runs of systems")),
    about="argsum.reports.written_calls.about",
)
COUNTING = KindParts(
    name=lazy("Counts by a judge"),
    prompts="argsum.actions.counting_prompts.PROMPTS",
    tried_on="argsum.actions.counting_preview.COUNTING",
    subjects="argsum.reports.counted_calls.COUNTING",
    page="argsum.views.counting_runs.run_page",
    start="argsum.api.counting_starts.COUNTING",
    home=Home("key_points", "counting_runs", lazy("Counts by judges")),
)
