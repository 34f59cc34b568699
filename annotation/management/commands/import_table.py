from collections.abc import Mapping
from typing import Any

from annotation.corpus.methods.column_guess import guess_mapping
from annotation.corpus.methods.generic_table import FIELDS
from cqa_site.tabular import FilePreview

from ._importing import TableCommand


class Command(TableCommand):
    help = (
        "Import any CSV, TSV, JSON, JSONL or XLSX table. Columns are guessed from the headers "
        "unless --map FIELD=COLUMN says otherwise; fields: " + ", ".join(FIELDS)
    )
    kind = "table"
    asks = ("label_round", "rater")

    def mapping(
        self, preview: FilePreview, columns: Mapping[str, str], options: dict[str, Any]
    ) -> Mapping[str, str]:
        return columns or guess_mapping(
            preview.columns, preview.rows, has_rater=bool(options["rater"])
        )
