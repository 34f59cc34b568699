"""Files into the database: read as a stream, compare with what is there, then write or not.

A format turns its file into entries (see `formats`), ``reconcile`` has them compared with a study
in pieces of 2,000 and writes what is new, ``files`` keeps the record of an uploaded file from the
first look to the import.
"""

from cqa_site.web.uploads import TooLarge

from .batches import (
    BATCH_JOB,
    apply_batch,
    check_batch,
    discard_batch,
    files_of,
    run_batch,
    same_names,
    store_batch,
)
from .decisions import NoSuchMatch, decide_matches
from .files import (
    APPLY_JOB,
    CHECK_JOB,
    NotInThisState,
    choose_mapping,
    discard_import,
    is_stranded,
    request_apply,
    request_check,
    store_upload,
    stored_path,
)
from .reading import import_path
from .rows import ImportRefused, Outcome
from .running import apply_import, check_import, run_apply, run_check

__all__ = [
    "APPLY_JOB",
    "BATCH_JOB",
    "CHECK_JOB",
    "ImportRefused",
    "NoSuchMatch",
    "NotInThisState",
    "Outcome",
    "TooLarge",
    "apply_batch",
    "apply_import",
    "check_batch",
    "check_import",
    "choose_mapping",
    "decide_matches",
    "discard_batch",
    "discard_import",
    "files_of",
    "import_path",
    "is_stranded",
    "request_apply",
    "request_check",
    "run_apply",
    "run_batch",
    "run_check",
    "same_names",
    "store_batch",
    "store_upload",
    "stored_path",
]
