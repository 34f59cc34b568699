"""Create a token for the REST API, for automated installations."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from cqa_site.people.access import create_token
from cqa_site.people.forms import TokenForm
from cqa_site.people.models import ApiToken, User
from cqa_site.people.sign_in.second_step import has_second_step, needs_second_step


class Command(BaseCommand):
    help = "Create an access token for a person and print it. It is shown only once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="email address of the account")
        parser.add_argument("--name", default="Command line", help="what the token is for")
        parser.add_argument("--scope", choices=ApiToken.Scope.values, default=ApiToken.Scope.READ)

    def handle(self, *args: Any, email: str, name: str, scope: str, **options: Any) -> None:
        user = User.objects.filter(email__iexact=email.strip()).first()
        if user is None or not user.is_active:
            raise CommandError(f"No active account has the address {email}.")
        if needs_second_step(user) and not has_second_step(user):
            raise CommandError(f"{user.email} needs a second step. Sign in once to set it up.")
        form = TokenForm({"name": name, "scope": scope})
        if not form.is_valid():
            raise CommandError(" ".join(map(str, form.errors["name"])))
        token, secret = create_token(user=user, **form.cleaned_data)
        self.stderr.write(
            f"Token {token.name!r} of {user.email}, {token.get_scope_display()}, "
            f"until {token.expires_at:%Y-%m-%d}:"
        )
        self.stdout.write(secret)
