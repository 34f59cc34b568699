"""Bodies made from a page's form, so that its fields, bounds and choices are declared once."""

from typing import Any, ClassVar

from django import forms
from rest_framework import serializers

from .inputs import Input

LONGEST_CHOICE = 200


class FormInput(Input):
    """What a page's form asks for; what is left out keeps its default, or its value on a change.

    A child declares only fields that travel in another form, and the form judges the values.
    """

    form: ClassVar[type[forms.Form]]
    # Fields of the form that a program does not send, or not under this name.
    left_out: ClassVar[tuple[str, ...]] = ()
    # How many rows may be named at most.
    most_chosen: ClassVar[int] = 500

    def get_fields(self) -> dict[str, serializers.Field]:
        """A field for each of the form's, which a field declared here replaces."""
        asked = {
            name: body_field(field, self.most_chosen, required=is_required(field))
            for name, field in self.form.base_fields.items()
            if name not in self.left_out
        }
        return asked | super().get_fields()


def is_required(field: forms.Field) -> bool:
    """Whether a form cannot do without a value, and begins with none."""
    return field.required and field.initial is None


def body_field(field: forms.Field, most: int = 500, **more: Any) -> serializers.Field:
    """The field of a body that takes or shows what a form's field does; ``more`` is passed on.

    A form's field may say in ``sent`` what a program sends, where choices do not tell.
    """
    words = (str(field.help_text), getattr(field, "sent", ""))
    more |= {"label": field.label, "help_text": " ".join(filter(None, words)) or None}
    if isinstance(field, forms.ModelMultipleChoiceField):
        return serializers.ListField(child=serializers.UUIDField(), max_length=most, **more)
    if isinstance(field, forms.MultipleChoiceField):
        # Choices that differ between studies are known to the bound form alone.
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
        is_whole = not isinstance(field, forms.FloatField)
        number = serializers.IntegerField if is_whole else serializers.FloatField
        more |= {"min_value": field.min_value, "max_value": field.max_value}
        return number(allow_null=not field.required, **more)
    longest = getattr(field, "max_length", None)
    return serializers.CharField(max_length=longest, allow_blank=not field.required, **more)


def _choices(field: forms.ChoiceField) -> list[Any]:
    choices: Any = field.choices
    return list(choices)


def _choice(field: forms.ChoiceField, **more: Any) -> serializers.Field:
    choices = [each for each in _choices(field) if each[0] != ""]
    if choices:
        return serializers.ChoiceField(choices, **more)
    longest = getattr(field, "longest", LONGEST_CHOICE)
    return serializers.CharField(max_length=longest, **more)
