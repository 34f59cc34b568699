"""What a developer's error page shows: where it broke, and no value of anything."""

from collections.abc import ItemsView
from types import FrameType
from typing import Any

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class NoValues(SafeExceptionReporterFilter):
    """Leaves variables and form fields out of error pages.

    Django hides what is marked as sensitive, and only without DEBUG. An API key passes through
    frames of forms and libraries that nobody can mark, and error pages get copied into issues.
    """

    def is_active(self, request: HttpRequest | None) -> bool:
        """Hide marked values with DEBUG, too."""
        return True

    def get_traceback_frame_variables(
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> ItemsView[str, Any]:
        """No variable of any frame."""
        none: dict[str, Any] = {}
        return none.items()

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, str]:
        """The names of the fields that were sent."""
        return dict.fromkeys(getattr(request, "POST", ()), self.cleansed_substitute)
