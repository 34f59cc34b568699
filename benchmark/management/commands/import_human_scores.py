from benchmark.management.score_files import ScoreImportCommand


class Command(ScoreImportCommand):
    help = (
        "Import the consolidated scores of people (TSV with C1 … C15); import the answers they "
        "are about first."
    )
    kind = "human_scores"
