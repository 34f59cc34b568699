"""Errors of the API as ``application/problem+json`` (RFC 9457), without internals."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from rest_framework import serializers, status
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from ..not_there import NotThere
from ..unavailable import RETRY_SECONDS, is_away

log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


class Conflict(APIException):
    """What was asked does not fit the present state."""

    status_code = status.HTTP_409_CONFLICT
    default_detail = "That is not possible now."
    default_code = "conflict"


class Busy(APIException):
    """The database did not answer in time."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "The database is busy; try again in a moment."
    default_code = "busy"
    wait = RETRY_SECONDS


class ProblemSerializer(serializers.Serializer):
    """One error: title and status always, detail in words, errors by field."""

    type = serializers.CharField(default="about:blank")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = serializers.DictField(required=False)  # type: ignore[assignment]  # a field here


@contextmanager
def conflict_on(*refusals: type[Exception]) -> Iterator[None]:
    """Turn the named refusals of an action into 409 with their message."""
    try:
        yield
    except refusals as refusal:
        raise Conflict(str(refusal) or Conflict.default_detail) from refusal


@contextmanager
def invalid_on(field: str, *refusals: type[Exception]) -> Iterator[None]:
    """Turn the named refusals of an action into 400 at the field they are about."""
    try:
        yield
    except refusals as refusal:
        raise ValidationError({field: [str(refusal)]}) from refusal


def problem(error: Exception, context: dict[str, Any]) -> Response | None:
    """Render an API error; anything unexpected stays Django's bare 500 and its log line."""
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


def body(code: int, data: Any) -> dict[str, Any]:
    """The problem document of an error DRF described by a detail, a list or a dict."""
    filled = {"type": "about:blank", "title": HTTPStatus(code).phrase, "status": code}
    if isinstance(data, dict) and set(data) == {"detail"}:
        return filled | {"detail": str(data["detail"])}
    errors = data if isinstance(data, dict) else {"non_field_errors": data}
    return filled | {"detail": "Some values are not acceptable.", "errors": errors}
