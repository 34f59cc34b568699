"""Addresses outside studies: boards that were made public."""

from benchmark.leaderboard.views.boards import public_urlpatterns as urlpatterns

__all__ = ["urlpatterns"]
