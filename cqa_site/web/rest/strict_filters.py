"""Query parameters of API lists: only declared ones, anything else is a 400."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django_filters.filters import TypedChoiceFilter
from django_filters.rest_framework import DjangoFilterBackend
from django_filters.rest_framework import FilterSet as AnyFilterSet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

PAGING = {"page", "page_size"}


class FilterSet(AnyFilterSet):
    """What the parameters of lists are declared in."""


@extend_schema_field(OpenApiTypes.BOOL)
class TrueFalseFilter(TypedChoiceFilter):
    """true or false; anything else is a 400 instead of being ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        choices = (("true", "true"), ("false", "false"))
        super().__init__(*args, choices=choices, coerce=_is_true, **kwargs)


def _is_true(text: str) -> bool:
    return text == "true"


class StrictFilterBackend(DjangoFilterBackend):
    """Refuse unknown parameters, so that no lookup can reach a field nobody listed."""

    def filter_queryset(self, request: Request, queryset: QuerySet, view: APIView) -> QuerySet:
        """Filter by the view's ``filterset_class``; raises 400 for a parameter it lacks."""
        filterset = getattr(view, "filterset_class", None)
        refuse_unknown(request, PAGING | set(filterset.base_filters if filterset else ()))
        return super().filter_queryset(request, queryset, view)


def refuse_undeclared(request: Request, declared: Sequence[OpenApiParameter]) -> None:
    """Raise 400 for parameters that were not declared, and for values outside a declared list."""
    refuse_unknown(request, {parameter.name for parameter in declared})
    wrong = {
        each.name: ["Must be one of: " + ", ".join(map(str, each.enum)) + "."]
        for each in declared
        if each.enum and request.query_params.get(each.name, each.enum[0]) not in each.enum
    }
    if wrong:
        raise ValidationError(wrong)


def refuse_unknown(request: Request, allowed: set[str]) -> None:
    """Raise 400 for parameters that are not allowed, and for one given twice."""
    wrong: dict[str, Any] = {
        name: ["Unknown parameter."] for name in request.query_params if name not in allowed
    }
    for name, values in request.query_params.lists():
        if len(values) > 1:
            wrong.setdefault(name, ["Given more than once."])
    if wrong:
        raise ValidationError(wrong)
