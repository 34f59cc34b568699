from django.apps import AppConfig


class UpkeepConfig(AppConfig):
    name = "cqa_site.upkeep"
    label = "upkeep"

    def ready(self) -> None:
        from cqa_site.upkeep.backups import handlers  # noqa: F401  handlers of jobs register themselves
