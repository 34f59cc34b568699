from argsum.management.base_commands import SeveralFilesCommand


class Command(SeveralFilesCommand):
    help = (
        "Import key points that systems wrote: a table (topic, stance, key_point and, if known, "
        "system, setting, prevalence, arguments), JSON by topic and stance, the summary files "
        "of the argument summarization paper, or a list with one key point per line."
    )
    kind = "system_points"
    reads_tables = True
    asks = ("dataset", "system", "topic", "stance", "scorer", "order")
    of_one = "system"
    why_one = "Each file is from a different system"
