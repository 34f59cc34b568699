from ._importing import ImportCommand


class Command(ImportCommand):
    help = (
        "Import the answers of one system (JSON). System and scenario are taken from the file's "
        "name, as in mixtral_scenario_3.json, unless --system and --scenario say otherwise."
    )
    kind = "answers"
    asks = ("system", "scenario")
