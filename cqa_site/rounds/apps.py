from django.apps import AppConfig


class RoundsConfig(AppConfig):
    name = "cqa_site.rounds"
    label = "rounds"

    def ready(self) -> None:
        from cqa_site.people import own_work
        from cqa_site.rounds.integrity import find_violations
        from cqa_site.web import invariants

        own_work.register("cqa_site.rounds.own_work.waiting_for")
        invariants.register(find_violations)
