from django.apps import AppConfig


class RoundsConfig(AppConfig):
    name = "cqa_site.rounds"
    label = "rounds"

    def ready(self) -> None:
        from cqa_site.rounds.kind import ROUNDS, round_entries
        from cqa_site.rounds.lifecycle import find_violations
        from cqa_site.rounds.models import ParticipantLink
        from cqa_site.sealing import HELD
        from cqa_site.web import housekeeping, navigation

        HELD.extend((ParticipantLink, f"{name}_ciphertext") for name in ("hook", "api"))
        navigation.add_entries(round_entries)
        navigation.add_finders(ROUNDS)
        housekeeping.register(find_violations)
