from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "cqa_site.runs"
    label = "runs"

    def ready(self) -> None:
        from cqa_site.runs import handlers  # noqa: F401  handlers of jobs register themselves
        from cqa_site.runs.integrity import find_violations
        from cqa_site.runs.menu import RUNS, run_entries
        from cqa_site.runs.models import Endpoint, Run
        from cqa_site.sealing import HELD
        from cqa_site.web import invariants
        from cqa_site.web.navigation import menu, search

        HELD.extend([(Endpoint, "key_ciphertext"), (Run, "webhook_ciphertext")])
        menu.add(run_entries)
        search.add(RUNS)
        invariants.register(find_violations)
