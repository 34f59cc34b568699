"""What workers do for this app: which function handles which kind of job."""

from argsum.actions import (
    key_point_boards,
    metric_making,
    score_files,
    scorer_training,
    scorer_trying,
    system_runs,
    system_work,
)
from cqa_site.runs.jobs import handles
from cqa_site.web.housekeeping import chore

handles(key_point_boards.JOB)(key_point_boards.make_board)
handles(system_runs.JOB)(system_work.make_sets)
handles(scorer_training.JOB)(scorer_training.make_scorer)
handles(scorer_trying.JOB)(scorer_trying.try_scorer)
handles(metric_making.JOB)(metric_making.make_metrics)

chore("stored scores nobody read")(score_files.clear_scores)
