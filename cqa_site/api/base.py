"""Base views, request bodies, addresses and access control of the REST API."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

from django import forms
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request as AnyRequest
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import GenericViewSet, ViewSetMixin

from cqa_site.people.access import SAFE_METHODS, StudyArchived, membership_or_404, refuse_change
from cqa_site.people.models import Membership, Role, Study, User
from cqa_site.web.rest.queries import MOST_NAMED, conflict_on, one_of, refuse_unknown


class Request(AnyRequest):
    """A request with a known user, by session or by token; used in type annotations."""

    user: User


# Access to the API, decided once for every address inside a study.
#
# People who are not members get 404, as for a study that does not exist. Annotators and experts
# work on the pages and get 403 here; their tokens can only read ``me`` and the names of their
# studies. Every row is looked up inside the study of the address.


class PersonViews(GenericViewSet):
    """Addresses for any person with a token, and the methods that all views share."""

    request: Request

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Refuse query parameters in requests that change something; all input is in the body."""
        super().initial(request, *args, **kwargs)
        # An unsupported method gets 405, regardless of the query.
        if self.action is not None and request.method not in SAFE_METHODS:
            refuse_unknown(request, set())

    def read(self, serializer: type[Serializer], *, partial: bool = False) -> dict[str, Any]:
        """Return the validated body of the request; raise 400 if it is invalid."""
        instance = serializer(data=self.request.data, partial=partial)
        instance.is_valid(raise_exception=True)
        return instance.validated_data

    def shown(self, row: object, status: int = 200) -> Response:
        """Return one row in the form given by the view's serializer."""
        return Response(self.get_serializer(row).data, status=status)

    def listed(self, rows: Any, read: Callable[[Any], Any] = list) -> Response:
        """Return one page of rows; ``read`` loads the rest of their data."""
        page = read(self.paginate_queryset(self.filter_queryset(rows)) or ())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class StudyViews(PersonViews):
    """Addresses below ``studies/<study_id>/``, for researchers and admins of that study only.

    A subclass returns its rows from ``rows``, always starting from ``self.study``. ``queryset``
    only names their model for the API description; by default it is the serializer's model.
    """

    lookup_field = "public_id"
    queryset: QuerySet | None
    membership: Membership
    study: Study
    # Names of the actions that also work in an archived study, although they change something.
    in_archive: tuple[str, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        meta: Any = getattr(cls.serializer_class, "Meta", None)
        names = {"serializer_class", "queryset"} & vars(cls).keys()
        if hasattr(meta, "model") and names == {"serializer_class"}:
            cls.queryset = meta.model.objects.none()

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Check the token, membership and role before reading anything else."""
        super().initial(request, *args, **kwargs)
        self.membership = membership_or_404(self.request.user, kwargs["study_id"])
        self.study = self.membership.study
        if not self.membership.is_researcher:
            raise PermissionDenied("Only researchers of the study may use this address.")
        # An unsupported method gets 405.
        if self.action is not None and self.action not in self.in_archive:
            with conflict_on(StudyArchived):
                refuse_change(self.study, request.method)

    def get_queryset(self) -> QuerySet:
        """Return the rows of this study, but no rows while the schema is being generated."""
        if self.queryset is not None and getattr(self, "swagger_fake_view", False):
            return self.queryset.none()
        return self.rows()

    def rows(self) -> QuerySet:
        """Return rows of ``self.study``."""
        raise NotImplementedError

    def list(self, request: Request, **kwargs: Any) -> Response:
        """List the rows that match the filters, one page at a time."""
        return self.listed(self.get_queryset())

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one row."""
        return self.shown(self.find_row(kwargs["public_id"]))

    def find_row(self, public_id: uuid.UUID) -> Any:
        """Return the row with this id; raise 404 if there is no such row."""
        return get_object_or_404(self.get_queryset(), public_id=public_id)


class AdminViews(StudyViews):
    """Addresses that researchers can read but only admins can change."""

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Check for the admin role before anything changes."""
        super().initial(request, *args, **kwargs)
        is_change = self.action is not None and request.method not in SAFE_METHODS
        if is_change and self.membership.role != Role.ADMIN:
            raise PermissionDenied("Only admins of the study may change this.")


S = "studies/<uuid:study_id>/"
R = S + "runs/<uuid:run_id>/"
LIST, ROW = {"get": "list"}, {"get": "retrieve"}
CREATE = LIST | {"post": "create"}
CHANGE = ROW | {"patch": "partial_update"}
REMOVE = ROW | {"delete": "destroy"}


def address(route: str, name: str, views: type[ViewSetMixin], **methods: str) -> URLPattern:
    """Return one address that maps HTTP methods to methods of the class."""
    return path(route, views.as_view({**methods}), name=f"api_{name}")


def posts(base: str, name: str, views: type[ViewSetMixin], verbs: str) -> list[URLPattern]:
    """Return an address below ``base`` for each verb; each address accepts POST.

    For the verb ``go-on`` of ``run``, the address is called ``api_run_go_on`` and the method
    ``go_on``.
    """
    methods = {verb: verb.replace("-", "_") for verb in verbs.split()}
    return [
        address(f"{base}{verb}/", f"{name}_{method}", views, post=method)
        for verb, method in methods.items()
    ]


def resource(
    base: str,
    many: str,
    singular: str,
    views: type[ViewSetMixin],
    verbs: str = "",
    *,
    listed: dict[str, str] = LIST,
    row: dict[str, str] = ROW,
    list_views: type | None = None,
) -> list[URLPattern]:
    """Return the addresses of a list, of its rows, and of each verb below a row (see `posts`)."""
    at = f"{base}<uuid:public_id>/"
    return [
        address(base, many, list_views or views, **listed),
        address(at, singular, views, **row),
        *posts(at, singular, views, verbs),
    ]


class ReadSerializer(serializers.ModelSerializer):
    """A serializer that never writes; ``id`` is the public id."""

    id: serializers.UUIDField | None = serializers.UUIDField(source="public_id", read_only=True)

    def get_fields(self) -> dict[str, serializers.Field]:
        """Mark every field as read-only."""
        fields = super().get_fields()
        for field in fields.values():
            field.read_only, field.required = True, False
        return fields


def public_id(source: str, **kwargs) -> serializers.UUIDField:
    """Return a field for the public id of a related row."""
    return serializers.UUIDField(source=f"{source}.public_id", read_only=True, **kwargs)


class Input(serializers.Serializer):
    """A request body in which every field is declared, so that no other field can be set."""

    # The API description states this, too.
    refuses_unknown = True
    # Fields may have these names, although serializers use them for text attributes.
    label: Any
    source: Any

    def to_internal_value(self, data: Any) -> Any:
        """Refuse unknown fields; the error for an invalid choice lists the valid choices."""
        for field in self.fields.values():
            _name_choices(getattr(field, "child", field))
        unknown = set(data) - set(self.fields) if isinstance(data, dict) else set()
        if unknown:
            raise serializers.ValidationError({name: ["Unknown field."] for name in unknown})
        return super().to_internal_value(data)


def _name_choices(field: serializers.Field) -> None:
    if isinstance(field, serializers.ChoiceField) and 0 < len(field.choices) <= MOST_NAMED:
        field.error_messages["invalid_choice"] = (
            f"“{{input}}” is not known. {one_of(field.choices)}"
        )


class NothingInput(Input):
    """An empty object."""


class ReasonInput(Input):
    """The reason, which is stored in the study's log."""

    reason = serializers.CharField(max_length=300)


def require_valid(form: forms.BaseForm) -> None:
    """Validate values with the page's form, whose rules the API shares; raise 400 on errors."""
    if not form.is_valid():
        errors = {name: list(map(str, texts)) for name, texts in form.errors.items()}
        raise serializers.ValidationError(errors)


# Request bodies made from a page's form, so that fields, bounds and choices are declared once.

LONGEST_CHOICE = 200


class FormInput(Input):
    """Fields of a page's form; omitted fields keep their value, or get a default in a new row.

    A subclass declares only the fields that the API sends in another format. The form validates
    the values.
    """

    form: ClassVar[type[forms.Form]]
    # Fields of the form that a program does not send, or sends under another name.
    left_out: ClassVar[tuple[str, ...]] = ()
    # Maximum number of rows in a list of ids.
    most_chosen: ClassVar[int] = 500

    def get_fields(self) -> dict[str, serializers.Field]:
        """Return a field for each form field; fields declared here take precedence."""
        fields = {
            name: body_field(field, self.most_chosen, required=is_required(field))
            for name, field in self.form.base_fields.items()
            if name not in self.left_out
        }
        return fields | super().get_fields()


def is_required(field: forms.Field) -> bool:
    """Return whether a form requires a value and has no initial value."""
    return field.required and field.initial is None


def body_field(field: forms.Field, most: int = 500, **more: Any) -> serializers.Field:
    """Return the body field for a form field; ``more`` is passed on to it.

    If the choices do not show which type a program sends, the form field may describe the type in
    ``sent``.
    """
    words = (str(field.help_text), getattr(field, "sent", ""))
    more |= {"label": field.label, "help_text": " ".join(filter(None, words)) or None}
    if isinstance(field, forms.ModelMultipleChoiceField):
        return serializers.ListField(child=serializers.UUIDField(), max_length=most, **more)
    if isinstance(field, forms.MultipleChoiceField):
        # Only the bound form has the choices that differ between studies.
        most = len(_choices(field)) or most
        return serializers.ListField(child=_choice(field), max_length=most, **more)
    if isinstance(field, forms.ModelChoiceField):
        return serializers.UUIDField(allow_null=not field.required, **more)
    if isinstance(field, forms.ChoiceField):
        takes_null = getattr(field, "empty_value", "") is None
        more |= {"allow_null" if takes_null else "allow_blank": not field.required}
        return _choice(field, **more)
    if isinstance(field, forms.BooleanField):
        return serializers.BooleanField(**more)
    if isinstance(field, forms.IntegerField):
        is_whole = not isinstance(field, (forms.FloatField, forms.DecimalField))
        number = serializers.IntegerField if is_whole else serializers.FloatField
        more |= {"min_value": field.min_value, "max_value": field.max_value}
        return number(allow_null=not field.required, **more)
    longest = getattr(field, "max_length", None)
    return serializers.CharField(max_length=longest, allow_blank=not field.required, **more)


def _choices(field: forms.ChoiceField) -> list[Any]:
    choices: Any = field.choices
    return list(choices)


def _choice(field: forms.ChoiceField, **more: Any) -> serializers.Field:
    choices = [choice for choice in _choices(field) if choice[0] != ""]
    if choices:
        return serializers.ChoiceField(choices, **more)
    longest = getattr(field, "longest", LONGEST_CHOICE)
    return serializers.CharField(max_length=longest, **more)


Field = serializers.Field[Any, Any, Any, Any]
PLAIN: dict[Any, type[Field]] = {
    str: serializers.CharField,
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
}


class DataSerializer(serializers.Serializer[Any]):
    """A dataclass serializer; subclasses declare only fields with another name, format or text."""

    shows: ClassVar[type]
    left_out: ClassVar[tuple[str, ...]] = ()
    own: ClassVar[dict[type, type["DataSerializer"]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Register the subclass for its dataclass, even if it is part of another dataclass."""
        super().__init_subclass__(**kwargs)
        if "shows" in vars(cls):
            cls.own[cls.shows] = cls

    def get_fields(self) -> dict[str, Field]:
        """Return the fields of the dataclass in order, followed by any additional fields."""
        declared = super().get_fields()
        fields = {
            name: declared.get(name) or field_of(kind)
            for name, kind in get_type_hints(self.shows).items()
            if name not in self.left_out
        }
        return fields | declared


@cache
def body_of(kind: type) -> type[DataSerializer]:
    """Return the serializer declared for a dataclass, or a plain serializer if there is none."""
    about = (kind.__doc__ or "").partition("\n\n")[0]
    parts = {"shows": kind, "__doc__": about}
    own = DataSerializer.own.get(kind)
    return own or type(f"{kind.__name__}Serializer", (DataSerializer,), parts)


def field_of(kind: Any, **more: Any) -> Field:
    """Return the field for a type of value; types without a specific field get a JSON field."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        known = [member for member in inner if member is not NoneType]
        more["allow_null"] = NoneType in inner
        return field_of(known[0] if len(known) == 1 else Any, **more)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return serializers.DictField(child=field_of(inner[1]), **more)
    if isinstance(origin, type) and issubclass(origin, Sequence):
        if _is_data(inner[0]):
            return body_of(inner[0])(many=True, **more)
        return serializers.ListField(child=field_of(inner[0]), **more)
    return (
        body_of(kind)(**more) if _is_data(kind) else PLAIN.get(kind, serializers.JSONField)(**more)
    )


def _is_data(kind: Any) -> bool:
    return is_dataclass(kind) or hasattr(kind, "_fields")
