from ._importing import ImportCommand


class Command(ImportCommand):
    help = (
        "Import a list of questions (CSV, TSV, JSON, JSONL or XLSX): object1, object2 and, if "
        "wanted, aspect, wording and columns of arguments. Questions that are there stay."
    )
    kind = "questions"
    reads_tables = True
    asks = ()
