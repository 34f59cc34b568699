from argsum.management.base_commands import SeveralFilesCommand


class Command(SeveralFilesCommand):
    help = (
        "Import scores of key point sets (JSON): soft scores of sets that people counted, "
        "evaluations of runs, or clusterings."
    )
    kind = "metric_scores"
    asks = ("dataset", "system", "order")
    of_one = "system"
    why_one = "Each file is from a different system"
