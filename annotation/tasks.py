"""What workers do for this app: which function handles which kind of job, and its chores."""

from annotation.consensus.actions import consensus
from annotation.exports.actions.exports import EXPORTS
from annotation.faithfulness.actions import faithfulness
from annotation.figures import actions as snapshots
from annotation.judges.actions import trained_judge
from annotation.retrieval.actions import cam as retrieval_cam
from annotation.retrieval.actions import corpora as retrieval_corpora
from annotation.retrieval.actions import loading as retrieval_loading
from cqa_site.files.actions.exports import register
from cqa_site.files.actions.retention import FOLDERS
from cqa_site.judging.packages import Part
from cqa_site.runs.jobs import handles
from cqa_site.web.housekeeping import chore

handles(snapshots.JOB)(snapshots.make_snapshot)
handles(consensus.JOB)(consensus.make_final_labels)
register(EXPORTS)
handles(trained_judge.JOB, needs=Part.LANGUAGE)(trained_judge.make_trained_judge)
handles(faithfulness.JOB)(faithfulness.make_figures)
handles(retrieval_corpora.CHECK_JOB)(retrieval_loading.check_corpus)
handles(retrieval_corpora.LOAD_JOB)(retrieval_loading.load_corpus)
handles(retrieval_corpora.DELETE_JOB)(retrieval_loading.delete_corpus)
handles(retrieval_cam.JOB, sends=True)(retrieval_cam.ask_cam)

chore("corpora nobody loaded")(retrieval_corpora.discard_old_corpora)
FOLDERS[retrieval_corpora.FOLDER] = retrieval_corpora.stored_names
