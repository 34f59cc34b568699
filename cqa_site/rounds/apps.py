from django.apps import AppConfig


class RoundsConfig(AppConfig):
    name = "cqa_site.rounds"
    label = "rounds"

    def ready(self) -> None:
        from cqa_site.rounds.integrity import find_violations
        from cqa_site.web import invariants

        invariants.register(find_violations)
