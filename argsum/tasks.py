"""What workers do for this app: which function handles which kind of job."""

from argsum.analysis.actions import making as analysis_making
from argsum.analysis.actions import placing as analysis_placing
from argsum.analysis.actions import point_checking
from argsum.analysis.actions import reading as analysis_reading
from argsum.analysis.actions import splitting as analysis_splitting
from argsum.analysis.actions import starting as analyses
from argsum.keypoints.actions import set_assigning, system_runs, system_work
from argsum.leaderboard import actions as key_point_boards
from argsum.metrics.actions import making as metric_making
from argsum.scorers.actions import score_files
from argsum.scorers.actions import training as scorer_training
from argsum.scorers.actions import trying as scorer_trying
from cqa_site.judging.packages import Part
from cqa_site.runs.jobs import handles
from cqa_site.web.housekeeping import chore

handles(key_point_boards.JOB)(key_point_boards.make_board)
handles(system_runs.JOB, needs=Part.LANGUAGE)(system_work.make_sets)
handles(set_assigning.JOB, needs=Part.LANGUAGE)(set_assigning.assign_arguments)
handles(scorer_training.JOB, needs=Part.LANGUAGE)(scorer_training.make_scorer)
handles(scorer_trying.JOB, needs=Part.LANGUAGE)(scorer_trying.try_scorer)
handles(metric_making.JOB, needs=Part.LANGUAGE)(metric_making.make_metrics)
handles(analyses.MAKE, needs=Part.LANGUAGE)(analysis_making.make_analysis)
handles(analyses.PLACE, needs=Part.LANGUAGE)(analysis_placing.place_statements)
handles(analyses.CHECK, needs=Part.LANGUAGE, sends=True)(point_checking.check_written)
handles(analysis_reading.JOB, needs=Part.LANGUAGE)(analysis_reading.read_share)
handles(analyses.SPLIT, needs=Part.LANGUAGE)(analysis_splitting.split_by_itself)

chore("stored scores nobody read")(score_files.clear_scores)
