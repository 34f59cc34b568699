from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "cqa_site.runs"
    label = "runs"
