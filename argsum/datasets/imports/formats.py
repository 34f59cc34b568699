"""Which kinds of files with arguments there are; readers load when one is first read."""

from cqa_site.files.actions.registry import Format, register_book, register_format
from cqa_site.files.models import ImportFile

from .entries import BOOK

Kind = ImportFile.Kind
PAGE = "import_arguments"
READERS = {
    Kind.ARGKP: "read_argkp",
    Kind.ARGUMENT_PAIRS: "read_pairs",
    Kind.ARGUMENT_LIST: "read_list",
}
_HERE = "argsum.datasets.imports"


def register_argument_imports() -> None:
    """Make the readers of arguments known to the imports."""
    register_book(BOOK, f"{_HERE}.book.DatasetBook")
    for kind, reader in READERS.items():
        register_format(kind, Format(f"{_HERE}.reading.{reader}", asks=PAGE))
