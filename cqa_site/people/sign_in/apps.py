"""The account library's list of sessions, written by our own middleware."""

from allauth.usersessions.apps import UserSessionsConfig


class UserSessions(UserSessionsConfig):
    """The library's sessions app without its receivers, which store full network addresses."""

    def ready(self) -> None:
        """Connect no receivers: `NoteSession` writes the rows."""
