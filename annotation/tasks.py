"""What workers do for this app: which function handles which kind of job."""

from annotation.actions import consensus, snapshots
from cqa_site.runs.jobs import handles

handles(snapshots.JOB)(snapshots.make_snapshot)
handles(consensus.JOB)(consensus.make_final_labels)
