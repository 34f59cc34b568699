from django.apps import AppConfig


class UpkeepConfig(AppConfig):
    name = "cqa_site.upkeep"
    label = "upkeep"
