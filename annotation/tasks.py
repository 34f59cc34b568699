"""What workers do for this app: which function handles which kind of job."""

from annotation.actions import consensus, export_making, exports, importing, snapshots
from cqa_site.runs.jobs import handles

handles(snapshots.JOB)(snapshots.make_snapshot)
handles(consensus.JOB)(consensus.make_final_labels)
handles(exports.JOB)(export_making.make_exports)
handles(importing.CHECK_JOB)(importing.run_check)
handles(importing.APPLY_JOB)(importing.run_apply)
