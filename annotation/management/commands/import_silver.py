from annotation.models import ImportFile

from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import comparisons and arguments of released summaries (JSON)."
    kind = ImportFile.Kind.SILVER
    has_campaign = False
