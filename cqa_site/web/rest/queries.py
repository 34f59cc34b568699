"""Strict queries, filters and pagination, and errors as problem+json."""

import json
import logging
import re
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.forms import ChoiceField, ModelChoiceField
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django_filters.filters import TypedChoiceFilter
from django_filters.rest_framework import DjangoFilterBackend, FilterSet as AnyFilterSet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from ..outages import RETRY_SECONDS, is_away
from ..pages import Middleware, NotThere

log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"
# Details of refusals from outside the views; other refusals have their own reason.
DETAILS = {
    400: "The request cannot be read.",
    403: "This is not allowed.",
    404: "Not found.",
    500: "The site failed. The server log has the reason under this X-Request-ID.",
    503: "The site cannot do this right now. Try again in a moment.",
}


class Conflict(APIException):
    """The request conflicts with the current state."""

    status_code = status.HTTP_409_CONFLICT
    default_detail = "This is not possible now."
    default_code = "conflict"


class Busy(APIException):
    """The database did not answer in time."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "The database is busy. Try again in a moment."
    default_code = "busy"
    wait = RETRY_SECONDS


class ProblemDocuments(Middleware):
    """Middleware that gives every error below ``/api/`` a problem document, whatever its source.

    Django, its middleware and the outage pages only have responses for people.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Replace the body of an error response; status and other headers do not change."""
        response = self.get_response(request)
        is_page = response.headers.get("Content-Type") != MEDIA_TYPE
        if response.status_code >= HTTPStatus.BAD_REQUEST and is_page and _is_api(request):
            _make_problem(response)
        return response


class ProblemSerializer(serializers.Serializer):
    """One error, with a title, a status, a detail and, if there are any, errors by field."""

    type = serializers.CharField(default="about:blank")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = serializers.DictField(required=False)  # type: ignore[assignment]  # a field here


@contextmanager
def conflict_on(*refusals: type[Exception]) -> Iterator[None]:
    """Turn these exceptions into 409 responses with their message."""
    try:
        yield
    except refusals as refusal:
        raise Conflict(str(refusal) or Conflict.default_detail) from refusal


@contextmanager
def invalid_on(field: str, *refusals: type[Exception]) -> Iterator[None]:
    """Turn these exceptions into 400 responses with an error for the field concerned."""
    try:
        yield
    except refusals as refusal:
        raise ValidationError({field: [str(refusal)]}) from refusal


def problem(error: Exception, context: dict[str, Any]) -> Response | None:
    """Render an API error; unexpected errors keep Django's plain 500 and its log line."""
    if is_away(error):
        log.warning("the database did not answer", exc_info=error)
        error = Busy()
    elif isinstance(error, NotThere):
        error = NotFound(str(error) or None)
    response = exception_handler(error, context)
    if response is None:
        return None
    response.data = body(response.status_code, response.data)
    response.content_type = MEDIA_TYPE
    return response


def _is_api(request: HttpRequest) -> bool:
    return f"{request.path_info}/".startswith("/api/")


def _make_problem(response: HttpResponse) -> None:
    code = HTTPStatus(response.status_code)
    data = body(code, {"detail": DETAILS.get(code, code.description)})
    response.content = json.dumps(data)
    del response.headers["Content-Encoding"]
    response.headers["Content-Type"] = MEDIA_TYPE
    response.headers["Content-Length"] = str(len(response.content))


def body(code: int, data: Any) -> dict[str, Any]:
    """Return the problem document for a DRF error, given as a detail, a list or a dict."""
    filled = {"type": "about:blank", "title": HTTPStatus(code).phrase, "status": code}
    if isinstance(data, dict) and set(data) == {"detail"}:
        return filled | {"detail": str(data["detail"])}
    errors = data if isinstance(data, dict) else {"non_field_errors": data}
    return filled | {"detail": "Some values are not valid.", "errors": errors}


# Validation of the query string of every address, for pages and the API.
#
# Everything that a view reads from a query has been checked here: it is text of a sensible length
# that can be stored and shown. Each view interprets its values; ``chosen`` is for views with a
# list of values.

LONGEST_NAME, LONGEST_VALUE = 100, 2_000
MOST_VALUES = 500
# NUL and lone surrogates, which databases refuse, and control characters other than tab and
# newlines, which nobody types into an address.
UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class StrictQuery(Middleware):
    """Middleware that rejects queries that cannot be stored or looked up."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Respond with 400 and the invalid parameters, or pass the request on."""
        errors = wrong_parameters(request)
        if not errors:
            return self.get_response(request)
        if request.path_info.startswith("/api/"):
            return JsonResponse(body(400, errors), status=400, content_type=MEDIA_TYPE)
        return render(request, "400.html", {"names": list(errors)}, status=400)


def wrong_parameters(request: HttpRequest) -> dict[str, list[str]]:
    """Return the problems with the query, by parameter."""
    problems: dict[str, list[str]] = {}
    count = 0
    for name, values in request.GET.lists():
        count += len(values)
        for text, longest in ((name, LONGEST_NAME), *((value, LONGEST_VALUE) for value in values)):
            if len(text) > longest:
                problems[_shown(name)] = [_("At most %s characters.") % longest]
            elif UNSTORABLE.search(text):
                problems[_shown(name)] = [_("Contains an invalid character.")]
    if count > MOST_VALUES:
        problems["query"] = [_("At most %s values.") % MOST_VALUES]
    return problems


def chosen(request: HttpRequest, name: str, known: Collection[str]) -> str:
    """Return a parameter's value if it is known, or an empty text, which means everything."""
    value = request.GET.get(name, "")
    return value if value in known else ""


def whole_number(text: str | None) -> int | None:
    """Parse a whole number of 0 or more that fits every column; return None for any other text."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 9
    return int(text or 0) if is_number else None


def id_from(text: str | None) -> uuid.UUID | None:
    """Parse an id; return None for any other text."""
    try:
        return uuid.UUID(text or "")
    except ValueError:
        return None


def _shown(name: str) -> str:
    return UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", name[:LONGEST_NAME])


MAX_PAGE = 1_000_000


class Pages(PageNumberPagination):
    """Pagination with 50 rows per page, at most 200; a page beyond the last one gets 404."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def get_page_size(self, request: Request) -> int:
        """Read ``page_size``; raises 400 unless it is between 1 and 200."""
        query_param = request.query_params.get("page_size")
        return (
            self.page_size
            if query_param is None
            else _whole(query_param, "page_size", self.max_page_size)
        )

    def get_page_number(self, request: Request, paginator: Paginator) -> Any:
        """Read ``page``; raises 400 unless it is a whole number of 1 or more."""
        return _whole(request.query_params.get("page", "1"), "page", MAX_PAGE)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return both parameters with their bounds."""
        bounds = {"page": MAX_PAGE, "page_size": self.max_page_size}
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            parameter["schema"] |= {"minimum": 1, "maximum": bounds[parameter["name"]]}
        return parameters


def _whole(text: str, name: str, largest: int) -> int:
    number = whole_number(text)
    if number is None or not 1 <= number <= largest:
        raise ValidationError({name: [f"A whole number from 1 to {largest:,}."]})
    return number


# Query parameters of API lists; undeclared parameters get 400.

PAGING = {"page", "page_size"}
# Longer lists are only in the API description.
MOST_NAMED = 60


class FilterSet(AnyFilterSet):
    """Base class for declaring the parameters of lists."""


@extend_schema_field(OpenApiTypes.BOOL)
class TrueFalseFilter(TypedChoiceFilter):
    """A filter for true or false; any other value gets 400 instead of being ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        choices = (("true", "true"), ("false", "false"))
        super().__init__(*args, choices=choices, coerce=lambda text: text == "true", **kwargs)


def one_of(values: Iterable[Any]) -> str:
    """Return a message that lists the allowed values."""
    return "Must be one of: " + ", ".join(map(str, values)) + "."


class StrictFilterBackend(DjangoFilterBackend):
    """A filter backend that rejects unknown parameters, so that lookups only use listed fields."""

    def filter_queryset(self, request: Request, queryset: QuerySet, view: APIView) -> QuerySet:
        """Filter by the view's ``filterset_class``; raises 400 for undeclared parameters."""
        filterset = getattr(view, "filterset_class", None)
        refuse_unknown(request, PAGING | set(filterset.base_filters if filterset else ()))
        return super().filter_queryset(request, queryset, view)

    def get_filterset(self, request: Request, queryset: QuerySet, view: APIView) -> Any:
        """Return the filters; the error for an invalid choice lists the valid choices."""
        filterset = super().get_filterset(request, queryset, view)
        for field in filterset.form.fields.values() if filterset else ():
            # Choices that are rows would need a query.
            if not isinstance(field, ChoiceField) or isinstance(field, ModelChoiceField):
                continue
            choices: Any = field.choices
            values = [value for value, _label in choices if value]
            if 0 < len(values) <= MOST_NAMED:
                words = f"“%(value)s” is not known. {one_of(values)}"
                field.error_messages["invalid_choice"] = words
        return filterset


def refuse_undeclared(request: Request, declared: Sequence[OpenApiParameter]) -> None:
    """Raise 400 for undeclared parameters, and for values outside a declared list."""
    refuse_unknown(request, {parameter.name for parameter in declared})
    wrong = {
        declaration.name: [one_of(declaration.enum)]
        for declaration in declared
        if declaration.enum
        and request.query_params.get(declaration.name, declaration.enum[0]) not in declaration.enum
    }
    if wrong:
        raise ValidationError(wrong)


def refuse_unknown(request: Request, allowed: set[str]) -> None:
    """Raise 400 for parameters that are not allowed, or that are given twice."""
    wrong: dict[str, Any] = {
        name: ["Unknown parameter."] for name in request.query_params if name not in allowed
    }
    for name, values in request.query_params.lists():
        if len(values) > 1:
            wrong.setdefault(name, ["Given more than once."])
    if wrong:
        raise ValidationError(wrong)
