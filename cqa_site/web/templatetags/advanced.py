"""A form shows what somebody has to decide; what has a usual value is folded below it.

The class of the form names these fields in ``advanced``, in the order in which they are shown.
"""

from typing import Any

from django import template
from django.forms import BaseForm, BoundField

register = template.Library()


@register.filter
def without_advanced(form: BaseForm) -> list[BoundField]:
    """The visible fields that are not folded."""
    names = getattr(form, "advanced", ())
    return [field for field in form.visible_fields() if field.name not in names]


@register.inclusion_tag("forms/advanced.html")
def advanced(form: BaseForm, css: str = "") -> dict[str, Any]:
    """The folded fields of a form; open where one is wrong or has another value than usual."""
    names = [name for name in getattr(form, "advanced", ()) if name in form.fields]
    unoffered = getattr(form, "unoffered", ())
    fields = [form[name] for name in names if name not in unoffered and not form[name].is_hidden]
    usual = _usual_values(form) if fields else {}
    unusual = [field for field in fields if _is_unusual(field, usual.get(field.name))]
    return {"fields": fields, "unusual": unusual, "css": css}


def _usual_values(form: Any) -> dict[str, Any]:
    """What a form shows where nobody chose; one over something stored begins with that instead."""
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
