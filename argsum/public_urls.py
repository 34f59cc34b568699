"""Addresses that anybody may open, outside of any study."""

from argsum.views.key_point_boards import public_urlpatterns as urlpatterns

__all__ = ["urlpatterns"]
