from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "cqa_site.results"
    label = "results"

    def ready(self) -> None:
        from cqa_site.results.snapshots import find_violations
        from cqa_site.web import housekeeping

        housekeeping.register(find_violations)
