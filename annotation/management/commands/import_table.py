from annotation.corpus.methods.generic_table import FIELDS
from ._importing import TableCommand


class Command(TableCommand):
    help = (
        "Import any CSV, TSV, JSON, JSONL or XLSX table. Columns are guessed from the headers "
        "unless --map FIELD=COLUMN says otherwise; fields: " + ", ".join(FIELDS)
    )
    kind = "table"
    asks = ("label_round", "rater")
    fills_up = False
