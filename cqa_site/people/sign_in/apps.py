"""The account library's session list, which our own middleware fills."""

from allauth.usersessions.apps import UserSessionsConfig


class UserSessions(UserSessionsConfig):
    """The library's sessions app without its receivers, which would store full IP addresses."""

    def ready(self) -> None:
        """Do not connect any receivers, because `NoteSession` writes the rows."""
