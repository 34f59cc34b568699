"""Handlers for this app's kinds of jobs, and its periodic chores."""

from annotation.consensus.actions import consensus
from annotation.exports.actions import EXPORTS
from annotation.faithfulness.actions import figures
from annotation.figures import actions as snapshots
from annotation.judges.actions import trained_judge
from annotation.retrieval.actions import arguments as retrieval_cam
from annotation.retrieval.actions import corpora as retrieval_corpora
from cqa_site.files.actions.exports import FOLDERS, register
from cqa_site.judging.packages import PackagePart
from cqa_site.runs.jobs import handles
from cqa_site.web.storage import chore

handles(snapshots.JOB)(snapshots.make_snapshot)
handles(consensus.JOB)(consensus.make_final_labels)
register(EXPORTS)
handles(trained_judge.JOB, needs=PackagePart.LANGUAGE, is_long=True)(
    trained_judge.make_trained_judge
)
handles(figures.JOB, is_long=True)(figures.make_figures)
handles(retrieval_corpora.CHECK_JOB)(retrieval_corpora.check_corpus)
handles(retrieval_corpora.LOAD_JOB, is_long=True)(retrieval_corpora.load_corpus)
handles(retrieval_corpora.DELETE_JOB, is_long=True)(retrieval_corpora.delete_corpus)
handles(retrieval_cam.JOB, sends=True)(retrieval_cam.ask_cam)

chore("corpora nobody loaded")(retrieval_corpora.discard_old_corpora)
FOLDERS[retrieval_corpora.FOLDER] = retrieval_corpora.stored_names
