from cqa_site.files.models import ImportFile

from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import an expert workbook (XLSX): one campaign for each rated sheet."
    kind = ImportFile.Kind.EXPERT_WORKBOOK
