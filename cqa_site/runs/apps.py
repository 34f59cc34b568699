from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "cqa_site.runs"
    label = "runs"

    def ready(self) -> None:
        from cqa_site.runs.carrying import worker  # noqa: F401  handlers of jobs register themselves
        from cqa_site.runs.integrity import find_violations
        from cqa_site.runs.kinds import RUNS, run_entries
        from cqa_site.runs.models import Endpoint, Run
        from cqa_site.sealing import HELD
        from cqa_site.web import housekeeping, navigation

        HELD.extend([(Endpoint, "key_ciphertext"), (Run, "webhook_ciphertext")])
        navigation.add_entries(run_entries)
        navigation.add_finders(RUNS)
        housekeeping.register(find_violations)
