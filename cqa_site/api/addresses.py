"""How addresses of the REST interface are written."""

from django.urls import URLPattern, path

S = "studies/<uuid:study_id>/"
R = S + "runs/<uuid:run_id>/"
LIST, ROW = {"get": "list"}, {"get": "retrieve"}
CREATE = {"get": "list", "post": "create"}


def address(route: str, name: str, views: type, **methods: str) -> URLPattern:
    """One address and which method of the class answers which HTTP method."""
    return path(route, views.as_view(methods), name=f"api_{name}")
