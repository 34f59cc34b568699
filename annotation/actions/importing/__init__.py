"""Files into the database: read as a stream, compare with what is there, then write or not.

``sources`` turns each kind of file into entries, ``reconcile`` compares them
with a study in pieces of 2,000 and writes what is new, ``files`` keeps the
record of an uploaded file from the first look to the import.
"""

from .files import (
    NotInThisState,
    TooLarge,
    apply_import,
    check_import,
    choose_mapping,
    discard_import,
    request_apply,
    request_check,
    store_upload,
    stored_path,
)
from .reading import ImportRefused, import_path
from .rows import OBJECTS, Outcome

__all__ = [
    "OBJECTS",
    "ImportRefused",
    "NotInThisState",
    "Outcome",
    "TooLarge",
    "apply_import",
    "check_import",
    "choose_mapping",
    "discard_import",
    "import_path",
    "request_apply",
    "request_check",
    "store_upload",
    "stored_path",
]
