from django.apps import AppConfig


class RoundsConfig(AppConfig):
    name = "cqa_site.rounds"
    label = "rounds"

    def ready(self) -> None:
        from cqa_site.rounds.integrity import find_violations
        from cqa_site.rounds.menu import ROUNDS, round_entries
        from cqa_site.web import invariants
        from cqa_site.web.navigation import menu, search

        menu.add(round_entries)
        search.add(ROUNDS)
        invariants.register(find_violations)
