"""Encrypt stored secrets with the first of SECRETS_KEYS, so that older keys can be removed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cqa_site.sealing import KeyUnreadable, reseal_all


class Command(BaseCommand):
    help = "Encrypt every stored secret with the first of SECRETS_KEYS."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = reseal_all()
        except KeyUnreadable as problem:
            raise CommandError(f"Nothing was changed. {problem}") from problem
        self.stdout.write(f"{count} stored secrets are now encrypted with the first key.")
