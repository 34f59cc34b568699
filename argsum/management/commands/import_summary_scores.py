from argsum.management.base_commands import SeveralFilesCommand


class Command(SeveralFilesCommand):
    help = (
        "Import stored scores of sets of key points (JSON): soft scores of the sets that people "
        "counted, evaluations of runs, or clusterings."
    )
    kind = "metric_scores"
    asks = ("dataset", "system", "order")
    of_one = "system"
    why_one = "Every file is of another system"
