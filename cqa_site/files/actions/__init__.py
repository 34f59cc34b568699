"""Files into the database: read as a stream, compare with what is there, then write or not.

``sources`` turns each kind of file into entries, ``reconcile`` compares them
with a study in pieces of 2,000 and writes what is new, ``files`` keeps the
record of an uploaded file from the first look to the import.
"""

from annotation.imports.actions.origin import Origin, origin_of
from cqa_site.web.uploads import TooLarge

from .batches import (
    BATCH_JOB,
    apply_batch,
    batch_kinds,
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
from .reading import ImportRefused, import_path
from .registry import FORMATS, Format, format_of, register_book, register_format
from .rows import OBJECTS, RESULTS, Outcome
from .running import apply_import, check_import, run_apply, run_check

__all__ = [
    "APPLY_JOB",
    "BATCH_JOB",
    "CHECK_JOB",
    "FORMATS",
    "OBJECTS",
    "RESULTS",
    "Format",
    "ImportRefused",
    "NoSuchMatch",
    "NotInThisState",
    "Origin",
    "Outcome",
    "TooLarge",
    "apply_batch",
    "apply_import",
    "batch_kinds",
    "check_batch",
    "check_import",
    "choose_mapping",
    "decide_matches",
    "discard_batch",
    "discard_import",
    "files_of",
    "format_of",
    "import_path",
    "is_stranded",
    "origin_of",
    "register_book",
    "register_format",
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
