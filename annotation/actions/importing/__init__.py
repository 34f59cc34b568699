"""Files into the database: read as a stream, compare with what is there, then write or not.

``sources`` turns each kind of file into entries, ``reconcile`` compares them
with a study in pieces of 2,000 and writes what is new, ``files`` keeps the
record of an uploaded file from the first look to the import.
"""

from annotation.actions.uploads import TooLarge

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
from .origin import WITH_ANSWERS, Origin, origin_of
from .reading import ImportRefused, import_path
from .rows import OBJECTS, RESULTS, Outcome
from .running import apply_import, check_import, run_apply, run_check

__all__ = [
    "APPLY_JOB",
    "CHECK_JOB",
    "OBJECTS",
    "RESULTS",
    "WITH_ANSWERS",
    "ImportRefused",
    "NotInThisState",
    "Origin",
    "Outcome",
    "TooLarge",
    "apply_import",
    "check_import",
    "choose_mapping",
    "discard_import",
    "import_path",
    "is_stranded",
    "origin_of",
    "request_apply",
    "request_check",
    "run_apply",
    "run_check",
    "store_upload",
    "stored_path",
]
