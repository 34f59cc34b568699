from argsum.management.base_commands import SeveralFilesCommand


class Command(SeveralFilesCommand):
    help = (
        "Import people's counts: one file per person, with topic, stance, reference, "
        "prediction, n_covered, n_unique, coverage, redundancy and file_name."
    )
    kind = "count_sheets"
    asks = ("dataset", "rater", "references")
    of_one = "rater"
    why_one = "Each file is from a different person"
