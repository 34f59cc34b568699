"""Background work of this app: run kinds with their pages, and job handlers."""

from django.utils.translation import gettext_lazy as lazy

from argsum.analysis.actions import analyses, jobs as analysis_jobs, point_writing, voices
from argsum.analysis.reports import analyses as analysis_reports
from argsum.coding import reports as coding_reports
from argsum.coding.actions import assignment, prompts as coding_prompts, proposal
from argsum.counting import reports as counting_reports
from argsum.counting.actions import judge as counting_judge
from argsum.keypoints.actions import sets, system_jobs, system_runs
from argsum.leaderboard import actions as leaderboard_actions
from argsum.metrics.actions import metrics
from argsum.prose import reports as prose_reports
from argsum.prose.actions import (
    checking as prose_checking,
    prompts as prose_prompts,
    runs as prose_runs,
)
from argsum.scorers.actions import (
    encoders,
    models as scorer_models,
    scorers,
    training as scorer_training,
)
from argsum.writing import reports as writing_reports
from argsum.writing.actions import prompts as writing_prompts, runs as writing_runs
from cqa_site.judging.packages import PackagePart
from cqa_site.runs.jobs import handles
from cqa_site.runs.kinds import Home, RunKind, register
from cqa_site.runs.models import Run
from cqa_site.web.housekeeping import chore


def register_kinds() -> None:
    """Register all run kinds of this app."""
    register(WritingRunKind())
    register(PointWriting())
    register(PointProposal())
    register(PointAssignment())
    register(AnalysisProse())
    register(CountingRunKind())


class WritingRunKind(writing_runs.WritingKind, RunKind):
    """Run kind in which a language model writes key points for a system run."""

    name = writing_runs.KIND
    title = lazy("Key point writing")
    unusable = lazy("Unusable")
    home = Home("key_points", "system_runs", lazy("System runs"))
    prompts = writing_prompts.PROMPTS
    tried_on = writing_runs.WRITING
    call_subjects = writing_reports.WRITING
    view_path = "argsum.writing.views.run_page"
    start_path = "argsum.writing.api.WRITING"

    def about(self, run: Run) -> str:
        """Return the system run that is waiting for this run."""
        return writing_reports.about(run)


class AnalysisRunKind(RunKind):
    """Base class of the run kinds for an analysis."""

    unusable = lazy("Unusable")
    home = Home("key_points", "analyses", lazy("Key point analysis"))

    def about(self, run: Run) -> str:
        """Return the name of the analysis."""
        return analysis_reports.about(run)


class PointWriting(point_writing.PointWritingKind, AnalysisRunKind):
    """Run kind in which a language model writes the key points of an analysis."""

    name = point_writing.KIND
    title = lazy("Key point writing for an analysis")
    prompts = point_writing.PROMPTS
    tried_on = point_writing.POINT_WRITING
    call_subjects = analysis_reports.POINT_CALLS
    view_path = "argsum.analysis.views.runs.writing_page"
    start_path = "argsum.analysis.api.analyses.POINT_WRITING"


class PointProposal(proposal.PointProposalKind, AnalysisRunKind):
    """Run kind in which a language model proposes key points for an analysis."""

    name = proposal.KIND
    title = lazy("Key points proposed for an analysis")
    prompts = coding_prompts.PROPOSAL_PROMPTS
    tried_on = proposal.PROPOSALS
    call_subjects = coding_reports.PROPOSAL_CALLS
    view_path = "argsum.coding.views.proposal_page"
    start_path = "argsum.coding.api.PROPOSAL"


class PointAssignment(assignment.PointAssignmentKind, AnalysisRunKind):
    """Run kind in which a language model assigns statements to signed-off key points."""

    name = assignment.KIND
    title = lazy("Statements assigned to key points")
    prompts = coding_prompts.ASSIGNMENT_PROMPTS
    tried_on = assignment.ASSIGNMENTS
    call_subjects = coding_reports.ASSIGNMENT_CALLS
    view_path = "argsum.coding.views.assignment_page"
    start_path = "argsum.coding.api.ASSIGNMENT"


class AnalysisProse(prose_runs.AnalysisProseKind, AnalysisRunKind):
    """Run kind in which a language model summarizes an analysis in prose."""

    name = prose_runs.KIND
    title = lazy("Summary of an analysis")
    prompts = prose_prompts.PROMPTS
    tried_on = prose_runs.SUMMARIZING
    call_subjects = prose_reports.PARAGRAPH_CALLS
    view_path = "argsum.prose.views.run_page"
    start_path = "argsum.prose.api.ANALYSIS_PROSE"


class CountingRunKind(counting_judge.CountingKind, RunKind):
    """Run kind in which a language model counts covered references and unique key points."""

    name = counting_judge.KIND
    title = lazy("Counts by a judge")
    home = Home("judges", "counting_runs", lazy("Counts by judges"))
    prompts = counting_judge.PROMPTS
    tried_on = counting_judge.COUNTING
    call_subjects = counting_reports.COUNTING
    view_path = "argsum.counting.views.run_page"
    start_path = "argsum.counting.api.COUNTING"


# Job handlers and housekeeping

handles(leaderboard_actions.JOB)(leaderboard_actions.make_board)
handles(system_runs.JOB, needs=PackagePart.LANGUAGE, is_long=True)(system_jobs.make_sets)
handles(sets.JOB, needs=PackagePart.LANGUAGE, is_long=True)(sets.assign_arguments)
handles(scorer_training.JOB, needs=PackagePart.LANGUAGE, is_long=True)(scorer_training.make_scorer)
handles(encoders.JOB, is_long=True)(encoders.install_encoder)
handles(scorers.JOB, needs=PackagePart.LANGUAGE)(scorers.try_scorer)
handles(metrics.JOB, needs=PackagePart.LANGUAGE, is_long=True)(metrics.make_metrics)
handles(analyses.MAKE, needs=PackagePart.LANGUAGE, is_long=True)(analysis_jobs.make_analysis)
handles(analyses.PLACE, needs=PackagePart.LANGUAGE, is_long=True)(analysis_jobs.place_statements)
handles(analyses.CHECK, needs=PackagePart.LANGUAGE, sends=True, is_long=True)(
    point_writing.check_written
)
handles(analyses.FOLLOW, needs=PackagePart.LANGUAGE, sends=True, is_long=True)(
    assignment.follow_run
)
handles(prose_runs.CHECK, needs=PackagePart.LANGUAGE, sends=True, is_long=True)(
    prose_checking.check_sentences
)
handles(voices.JOB, is_long=True)(voices.find_groups)
handles(analysis_jobs.JOB, needs=PackagePart.LANGUAGE, is_long=True)(analysis_jobs.read_share)
handles(analyses.SPLIT, needs=PackagePart.LANGUAGE, is_long=True)(analysis_jobs.split_by_itself)

chore("unused cached scores")(scorer_models.clear_scores)
