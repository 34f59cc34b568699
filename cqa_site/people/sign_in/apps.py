"""The account library's list of sessions, written by our own middleware."""

from allauth.usersessions.apps import UserSessionsConfig


class UserSessions(UserSessionsConfig):
    """Without its receivers, which keep whole network addresses."""

    def ready(self) -> None:
        """Connect nothing: `NoteSession` writes the rows."""
