from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "cqa_site.results"
    label = "results"

    def ready(self) -> None:
        from cqa_site.results.checking import find_violations
        from cqa_site.web import invariants

        invariants.register(find_violations)
