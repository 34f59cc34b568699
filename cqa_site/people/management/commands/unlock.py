"""Unlock an account after too many failed sign-ins."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core import context, ratelimit
from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.test import RequestFactory

from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.people.sign_in.roles import can_sign_in, roles_held, take
from cqa_site.people.sign_in.second_step import end_sessions


class Command(BaseCommand):
    help = "Clear a person's failed sign-in attempts, so that they can sign in at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="email address of the account")
        parser.add_argument(
            "--second-step",
            action="store_true",
            help="remove passkeys, the app and recovery codes",
        )
        parser.add_argument(
            "--groups",
            action="store_true",
            help="remove roles assigned by provider groups, so that the person is not "
            "sent to the provider",
        )
        parser.add_argument(
            "--sessions", action="store_true", help="sign the person out everywhere"
        )
        parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        user = User.objects.filter(email__iexact=email.strip()).first()
        if user is None:
            raise CommandError("No account has this address.")
        if not user.is_active:
            raise CommandError("This account is closed. Nothing was changed.")
        if options["second_step"] and not options["yes"]:
            self._confirm(user)
        self._forget_tries(user)
        with transaction.atomic():
            if options["second_step"]:
                removed, _each = Authenticator.objects.filter(user=user).delete()
                self.stdout.write(f"Second steps removed: {removed}.")
            if options["groups"]:
                count = take(roles_held().filter(user=user))
                self.stdout.write(f"Roles from groups removed: {count}.")
            if options["sessions"] or options["second_step"]:
                end_sessions(user=user)
                self.stdout.write("Signed out everywhere.")
            details = {name: options[name] for name in ("second_step", "groups", "sessions")}
            record(study=None, actor=None, verb="unlocked", subject=str(user), **details)
        self._say_how_it_is(user)

    def _say_how_it_is(self, user: User) -> None:
        if can_sign_in(user):
            self.stdout.write(self.style.SUCCESS(f"{user.email} can sign in again."))
            if role := roles_held().filter(user=user).first():
                note = (
                    f"Only through {role.provider}, whose groups gave a role. Use --groups to "
                    "remove the role."
                )
                self.stdout.write(note)
        else:
            advice = f"manage.py changepassword {user.email}"
            self.stdout.write(
                self.style.WARNING(f"The person has no way to sign in. Set a password: {advice}")
            )

    def _confirm(self, user: User) -> None:
        self.stdout.write(
            "Anyone who knows the password can then sign in. Check who asked you to do this."
        )
        if input(f"Type {user.email} to remove the second step: ").strip().lower() != user.email:
            raise CommandError("Nothing was changed.")

    @staticmethod
    def _forget_tries(user: User) -> None:
        """Clear the account library's counters of failed attempts, using the library's keys."""
        request = RequestFactory().get("/")
        with context.request_context(request):
            address = get_adapter()._get_login_attempts_cache_key(request, email=user.email)
            for key in (address, f"mfa-auth-user-{user.pk}"):
                ratelimit.clear(request, action="login_failed", key=key)
            ratelimit.clear(request, action="reauthenticate", user=user)
