from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "cqa_site.web"
    label = "web"
