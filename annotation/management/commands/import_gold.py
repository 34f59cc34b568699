from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import edited answers (JSON); import the silver file they were made from first."
    kind = "gold"
    asks = ("system", "scenario")
