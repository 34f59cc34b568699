from django.apps import AppConfig


class PayConfig(AppConfig):
    name = "cqa_site.pay"
    label = "pay"
