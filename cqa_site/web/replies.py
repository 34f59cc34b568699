"""In which form a view replies."""

from django.http import HttpRequest


def wants_json(request: HttpRequest) -> bool:
    """Whether a script asks; a form without script wants a page."""
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"
