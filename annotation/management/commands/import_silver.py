from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import comparisons with their arguments and machine answers (JSON)."
    kind = "silver"
    has_campaign = False
    has_answers = True
