from argsum.management.base_commands import ArgumentImportCommand


class Command(ArgumentImportCommand):
    help = (
        "Add qualities from a table (topic, argument and a quality from 0 to 1, such as WA and "
        "MACE-P of ArgQ-30k) to the arguments of a dataset, matched by topic and text."
    )
    kind = "rated_arguments"
    reads_tables = True
    asks = ("dataset", "quality")
