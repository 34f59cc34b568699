"""Start-up of the project package."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """Loads Celery once settings are ready, so that importing ``cqa_site`` does not import it."""

    name = "cqa_site"
    label = "cqa_site"

    def ready(self) -> None:
        from cqa_site import (  # noqa: F401  both register themselves
            celery,
            checks,
        )
