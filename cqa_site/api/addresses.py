"""How addresses of the REST interface are written."""

from django.urls import URLPattern, path
from rest_framework.viewsets import ViewSetMixin

S = "studies/<uuid:study_id>/"
R = S + "runs/<uuid:run_id>/"
LIST, ROW = {"get": "list"}, {"get": "retrieve"}
CREATE = LIST | {"post": "create"}
CHANGE = ROW | {"patch": "partial_update"}
REMOVE = ROW | {"delete": "destroy"}


def address(route: str, name: str, views: type[ViewSetMixin], **methods: str) -> URLPattern:
    """One address and which method of the class answers which HTTP method."""
    return path(route, views.as_view({**methods}), name=f"api_{name}")


def resource(
    base: str,
    many: str,
    one: str,
    views: type[ViewSetMixin],
    verbs: str = "",
    *,
    listed: dict[str, str] = LIST,
    row: dict[str, str] = ROW,
    list_views: type | None = None,
) -> list[URLPattern]:
    """A list, its rows, and one address below a row for each verb, which answers a POST.

    The verb ``go-on`` of ``run`` is called ``api_run_go_on``, and the method ``go_on``.
    """
    at = f"{base}<uuid:public_id>/"
    names = [(verb, verb.replace("-", "_")) for verb in verbs.split()]
    return [
        address(base, many, list_views or views, **listed),
        address(at, one, views, **row),
        *(address(f"{at}{verb}/", f"{one}_{name}", views, post=name) for verb, name in names),
    ]
