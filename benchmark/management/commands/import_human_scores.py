from annotation.management.commands._importing import ImportCommand


class Command(ImportCommand):
    help = (
        "Import people's consolidated scores (TSV with C1 … C15). Import the answers that they "
        "are about first."
    )
    kind = "human_scores"
    asks = ("rubric",)
