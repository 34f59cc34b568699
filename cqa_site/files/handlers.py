"""What workers do for files: looking at them, importing them, throwing old ones away."""

from cqa_site.files.actions.batches import BATCH_JOB, run_batch
from cqa_site.files.actions.files import APPLY_JOB, CHECK_JOB
from cqa_site.files.actions.running import run_apply, run_check
from cqa_site.runs.jobs import handles
from cqa_site.web.housekeeping import chore

from .actions import retention

handles(CHECK_JOB)(run_check)
handles(APPLY_JOB)(run_apply)
handles(BATCH_JOB)(run_batch)

chore("expired exports")(retention.expire_exports)
chore("uploads nobody imported")(retention.discard_old_imports)
chore("leftover files")(retention.remove_leftovers)
