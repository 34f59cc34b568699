from argsum.management.base_commands import ArgumentImportCommand


class Command(ArgumentImportCommand):
    help = (
        "Give arguments of a dataset the qualities of a table (topic, argument and a quality from "
        "0 to 1, such as WA and MACE-P of ArgQ-30k), found by topic and text."
    )
    kind = "rated_arguments"
    reads_tables = True
    asks = ("dataset", "quality")
