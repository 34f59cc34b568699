from ._importing import ImportCommand


class Command(ImportCommand):
    help = "Import released final labels (JSON): one round with the human and the model label."
    kind = "final_labels"
