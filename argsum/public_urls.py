"""Public addresses outside of any study."""

from argsum.leaderboard.views.leaderboard import public_urlpatterns as urlpatterns

__all__ = ["urlpatterns"]
