from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import a Toloka pool's assignments (TSV): items, raters and votes of one round."
    kind = "toloka"
