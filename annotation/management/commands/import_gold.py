from cqa_site.files.models import ImportFile

from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import edited answers (JSON); import the silver file they were made from first."
    kind = ImportFile.Kind.GOLD
    has_campaign = False
    has_answers = True
