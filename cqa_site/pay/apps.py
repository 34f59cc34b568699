from django.apps import AppConfig


class PayConfig(AppConfig):
    name = "cqa_site.pay"
    label = "pay"

    def ready(self) -> None:
        from cqa_site.pay import jobs  # noqa: F401  handlers of jobs register themselves
