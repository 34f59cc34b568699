"""Forms of the account library that are stricter here."""

from allauth.account.forms import ResetPasswordForm

from cqa_site.people.models import User


class ForgottenPassword(ResetPasswordForm):
    """Sends a link only where there is a password: who comes by a provider alone stays with it."""

    users: list[User]

    def clean_email(self) -> str:
        """The address; whose account has no password gets no mail."""
        email: str = super().clean_email()
        self.users = [user for user in self.users if user.has_usable_password()]
        return email
