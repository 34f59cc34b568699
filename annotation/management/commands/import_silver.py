from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import comparisons with their arguments and machine answers (JSON)."
    kind = "silver"
    asks = ("system", "scenario")
