"""The kinds of runs of this app: what the engine asks of them, and what is shown of them."""

from django.utils.translation import gettext_lazy as lazy

from argsum.analysis.actions import point_prompts, point_writing
from argsum.analysis.reports import written as written_points
from argsum.counting.actions import judge as counting_judge
from argsum.counting.actions import preview as counting_preview
from argsum.counting.actions import prompts as counting_prompts
from argsum.counting.reports import counted_calls
from argsum.writing import reports as written_calls
from argsum.writing.actions import kind as writing
from argsum.writing.actions import preview as writing_preview
from argsum.writing.actions import prompts as writing_prompts
from cqa_site.runs.kind_parts import Home
from cqa_site.runs.kinds import RunKind, register
from cqa_site.runs.models import Run


def register_kinds() -> None:
    """Make them known."""
    register(Writing())
    register(PointWriting())
    register(Counting())


class Writing(writing.WritingKind, RunKind):
    """A language model writes key points for a run of a system."""

    name = writing.KIND
    title = lazy("Key points written")
    unusable = lazy("Not usable")
    home = Home("key_points", "system_runs", lazy("Runs of systems"))
    prompts = writing_prompts.PROMPTS
    tried_on = writing_preview.WRITING
    call_subjects = written_calls.WRITING
    view_path = "argsum.writing.views.run_page"
    start_path = "argsum.writing.api.WRITING"

    def about(self, run: Run) -> str:
        """The run of a system that waits for it."""
        return written_calls.about(run)


class PointWriting(point_writing.PointWritingKind, RunKind):
    """A language model writes the key points of an analysis."""

    name = point_writing.KIND
    title = lazy("Key points of an analysis written")
    unusable = lazy("Not usable")
    home = Home("key_points", "analyses", lazy("Key point analysis"))
    prompts = point_prompts.PROMPTS
    tried_on = point_writing.POINT_WRITING
    call_subjects = written_points.POINT_CALLS
    view_path = "argsum.analysis.views.writing.run_page"
    start_path = "argsum.analysis.api.writing.POINT_WRITING"

    def about(self, run: Run) -> str:
        """The analysis."""
        return written_points.about(run)


class Counting(counting_judge.CountingKind, RunKind):
    """A language model counts covered references and unique key points."""

    name = counting_judge.KIND
    title = lazy("Counts by a judge")
    home = Home("judges", "counting_runs", lazy("Counts by judges"))
    prompts = counting_prompts.PROMPTS
    tried_on = counting_preview.COUNTING
    call_subjects = counted_calls.COUNTING
    view_path = "argsum.counting.views.runs.run_page"
    start_path = "argsum.counting.api.starts.COUNTING"
