from cqa_site.files.models import ImportFile

from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import comparisons with their arguments and machine answers (JSON)."
    kind = ImportFile.Kind.SILVER
    has_campaign = False
    has_answers = True
