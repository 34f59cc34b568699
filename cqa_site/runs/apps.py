from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "cqa_site.runs"
    label = "runs"

    def ready(self) -> None:
        from cqa_site.runs import handlers  # noqa: F401  handlers of jobs register themselves
        from cqa_site.runs.integrity import find_violations
        from cqa_site.runs.menu import RUNS, run_entries
        from cqa_site.web import invariants
        from cqa_site.web.navigation import menu, search

        menu.add(run_entries)
        search.add(RUNS)
        invariants.register(find_violations)
