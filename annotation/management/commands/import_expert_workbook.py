from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import an expert workbook (XLSX): one round for each rated sheet."
    kind = "expert_workbook"
