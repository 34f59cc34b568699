from annotation.management.commands._importing import TableCommand
from argsum.datasets.methods.comment_columns import FIELDS


class Command(TableCommand):
    help = (
        "Import comments, one per row, from a CSV, TSV, JSON, JSONL or XLSX file or from plain "
        "text. One column is enough. --map FIELD=COLUMN assigns columns to the fields "
        f"{', '.join(FIELDS)}; all other columns are kept."
    )
    kind = "comments"
    asks = ("dataset", "topic", "first_row", "date_order", "repeats")
    table_asks = ()
