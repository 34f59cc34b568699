"""Addresses outside studies: public boards."""

from benchmark.leaderboard.views.boards import public_urlpatterns as urlpatterns

__all__ = ["urlpatterns"]
