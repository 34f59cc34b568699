"""Forms with their required decisions visible and fields with default values folded below.

The class of the form names these fields in ``advanced``, in the order in which they are shown.
"""

from typing import Any

from django import template
from django.forms import BaseForm, BoundField

register = template.Library()


@register.filter
def without_advanced(form: BaseForm) -> list[BoundField]:
    """Return the visible fields that are not folded."""
    names = getattr(form, "advanced", ())
    return [field for field in form.visible_fields() if field.name not in names]


@register.inclusion_tag("forms/advanced.html")
def advanced(form: BaseForm, css: str = "") -> dict[str, Any]:
    """Render a form's folded fields, unfolded if one is invalid or differs from its default."""
    names = [name for name in getattr(form, "advanced", ()) if name in form.fields]
    unoffered = getattr(form, "unoffered", ())
    fields = [form[name] for name in names if name not in unoffered and not form[name].is_hidden]
    usual = _usual_values(form) if fields else {}
    unusual = [field for field in fields if _is_unusual(field, usual.get(field.name))]
    return {"fields": fields, "unusual": unusual, "css": css}


def _usual_values(form: Any) -> dict[str, Any]:
    """Return a form's default values; a form over a stored object starts with that object's."""
    if getattr(form, "round", None):
        # Each round draws a seed of its own.
        return form.begun(form.study) | {"seed": form["seed"].initial}
    has_stored = getattr(getattr(form, "instance", None), "pk", None) is not None
    fields = form.fields.items()
    return {name: field.initial if has_stored else form[name].initial for name, field in fields}


def _is_unusual(field: BoundField, usual: Any) -> bool:
    value = field.data if field.form.is_bound else field.value()
    # A value that was proposed for this form alone comes back as the text that it was.
    return bool(field.errors) or (value != usual and field.field.has_changed(usual, value))
