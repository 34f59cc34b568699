"""Bodies that show a dataclass or named tuple, field by field."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

from rest_framework import serializers

Field = serializers.Field[Any, Any, Any, Any]
PLAIN: dict[Any, type[Field]] = {
    str: serializers.CharField,
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
}


class DataSerializer(serializers.Serializer[Any]):
    """Shows a dataclass; a child declares only fields with another name, form or help."""

    shows: ClassVar[type]
    left_out: ClassVar[tuple[str, ...]] = ()
    own: ClassVar[dict[type, type["DataSerializer"]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Register the child for its dataclass, also where that is part of another one."""
        super().__init_subclass__(**kwargs)
        if "shows" in vars(cls):
            cls.own[cls.shows] = cls

    def get_fields(self) -> dict[str, Field]:
        """The fields of the dataclass in their order, then those that it lacks."""
        declared = super().get_fields()
        fields = {
            name: declared.get(name) or field_of(kind)
            for name, kind in get_type_hints(self.shows).items()
            if name not in self.left_out
        }
        return fields | declared


@cache
def body_of(kind: type) -> type[DataSerializer]:
    """Return the body that shows a dataclass: the one declared for it, or else a plain one."""
    about = (kind.__doc__ or "").partition("\n\n")[0]
    parts = {"shows": kind, "__doc__": about}
    own = DataSerializer.own.get(kind)
    return own or type(f"{kind.__name__}Serializer", (DataSerializer,), parts)


def field_of(kind: Any, **more: Any) -> Field:
    """Return the field that shows a value of a type; any JSON where that does not say enough."""
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
