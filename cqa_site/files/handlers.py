"""What workers do for files: looking at them, importing them, throwing old ones away."""

from cqa_site.runs.jobs import handles

from . import actions as importing

handles(importing.CHECK_JOB)(importing.run_check)
handles(importing.APPLY_JOB)(importing.run_apply)
handles(importing.BATCH_JOB)(importing.run_batch)
