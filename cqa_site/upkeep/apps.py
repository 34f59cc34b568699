from django.apps import AppConfig
from django.conf import settings


class UpkeepConfig(AppConfig):
    name = "cqa_site.upkeep"
    label = "upkeep"

    def ready(self) -> None:
        from cqa_site.upkeep.backups import backup  # noqa: F401  handlers of jobs register themselves
        from cqa_site.upkeep.studies import deletion  # noqa: F401  as above
        from cqa_site.upkeep.watching import requests

        requests.watch()
        if settings.SENTRY_DSN:
            from cqa_site.upkeep.watching.error_reports import report_errors

            report_errors()
        if settings.TRACES_ENDPOINT:
            from cqa_site.upkeep.watching.traces import trace_work

            trace_work()
