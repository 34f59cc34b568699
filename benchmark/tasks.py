"""Worker functions of this app, by kind of job."""

from benchmark.leaderboard import actions as boards
from cqa_site.runs.jobs import handles

handles(boards.JOB)(boards.make_board)
handles(boards.SLICE_JOB)(boards.make_slice)
