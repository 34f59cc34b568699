"""What workers do for files: looking at them, importing them, throwing old ones away."""

from cqa_site.runs.jobs import handles
from cqa_site.web.housekeeping import chore

from . import actions as importing
from .actions import retention

handles(importing.CHECK_JOB)(importing.run_check)
handles(importing.APPLY_JOB)(importing.run_apply)
handles(importing.BATCH_JOB)(importing.run_batch)

chore("expired exports")(retention.expire_exports)
chore("uploads nobody imported")(retention.discard_old_imports)
chore("leftover files")(retention.remove_leftovers)
