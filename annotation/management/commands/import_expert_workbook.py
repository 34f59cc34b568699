from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import an expert workbook (XLSX): one campaign for each rated sheet."
    kind = "expert_workbook"
