"""Encrypt stored secrets with the newest of SECRETS_KEYS, so that the older ones can go."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cqa_site.runs.keys import KeyUnreadable, reseal


class Command(BaseCommand):
    help = "Encrypt the stored keys of endpoints and webhooks with the first of SECRETS_KEYS."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = reseal()
        except KeyUnreadable as problem:
            raise CommandError(f"Nothing was changed. {problem}") from problem
        self.stdout.write(f"{count} stored secrets are encrypted with the first key now.")
