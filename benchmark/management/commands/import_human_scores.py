from annotation.management.commands._importing import ImportCommand


class Command(ImportCommand):
    help = (
        "Import the consolidated scores of people (TSV with C1 … C15); import the answers they "
        "are about first."
    )
    kind = "human_scores"
    asks = ("rubric",)
