"""Job handlers of this app, by kind of job."""

from argsum.analysis.actions import analyses, point_writing, voices
from argsum.analysis.actions import jobs as analysis_jobs
from argsum.coding.actions import assignment
from argsum.keypoints.actions import sets, system_jobs, system_runs
from argsum.leaderboard import actions as key_point_boards
from argsum.metrics.actions import metrics as metric_making
from argsum.prose.actions import checking as prose_checking
from argsum.prose.actions import runs as prose
from argsum.scorers.actions import encoders
from argsum.scorers.actions import models as actions
from argsum.scorers.actions import scorers as scorer_trying
from argsum.scorers.actions import training as scorer_training
from cqa_site.judging.packages import PackagePart
from cqa_site.runs.jobs import handles
from cqa_site.web.storage import chore

handles(key_point_boards.JOB)(key_point_boards.make_board)
handles(system_runs.JOB, needs=PackagePart.LANGUAGE, is_long=True)(system_jobs.make_sets)
handles(sets.JOB, needs=PackagePart.LANGUAGE, is_long=True)(sets.assign_arguments)
handles(scorer_training.JOB, needs=PackagePart.LANGUAGE, is_long=True)(scorer_training.make_scorer)
handles(encoders.JOB, is_long=True)(encoders.install_encoder)
handles(scorer_trying.JOB, needs=PackagePart.LANGUAGE)(scorer_trying.try_scorer)
handles(metric_making.JOB, needs=PackagePart.LANGUAGE, is_long=True)(metric_making.make_metrics)
handles(analyses.MAKE, needs=PackagePart.LANGUAGE, is_long=True)(analysis_jobs.make_analysis)
handles(analyses.PLACE, needs=PackagePart.LANGUAGE, is_long=True)(analysis_jobs.place_statements)
handles(analyses.CHECK, needs=PackagePart.LANGUAGE, sends=True, is_long=True)(
    point_writing.check_written
)
handles(analyses.FOLLOW, needs=PackagePart.LANGUAGE, sends=True, is_long=True)(
    assignment.follow_run
)
handles(prose.CHECK, needs=PackagePart.LANGUAGE, sends=True, is_long=True)(
    prose_checking.check_sentences
)
handles(voices.JOB, is_long=True)(voices.find_groups)
handles(analysis_jobs.JOB, needs=PackagePart.LANGUAGE, is_long=True)(analysis_jobs.read_share)
handles(analyses.SPLIT, needs=PackagePart.LANGUAGE, is_long=True)(analysis_jobs.split_by_itself)

chore("stored scores nobody read")(actions.clear_scores)
