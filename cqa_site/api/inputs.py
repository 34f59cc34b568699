"""How every body is read: each field is declared, and a page's form may judge the values."""

from typing import Any

from django import forms
from rest_framework import serializers


class Input(serializers.Serializer):
    """A body in which every field is declared, so that nothing else can be set."""

    # The description says so, too.
    refuses_unknown = True
    # Fields may have these names, although serializers have texts under them.
    label: Any
    source: Any

    def to_internal_value(self, data: Any) -> Any:
        """Refuse unknown fields."""
        unknown = set(data) - set(self.fields) if isinstance(data, dict) else set()
        if unknown:
            raise serializers.ValidationError({name: ["Unknown field."] for name in unknown})
        return super().to_internal_value(data)


class NothingInput(Input):
    """An empty object."""


class ReasonInput(Input):
    """Why; kept in the study's log."""

    reason = serializers.CharField(max_length=300)


def require_valid(form: forms.BaseForm) -> None:
    """Let a page's form judge the values, so that page and API know the same rules; raises 400."""
    if not form.is_valid():
        errors = {name: list(map(str, texts)) for name, texts in form.errors.items()}
        raise serializers.ValidationError(errors)
