"""Validation of ordinal label scales."""

from django.utils.translation import gettext as _


class ScaleNotValid(Exception):
    """The levels do not form an ordinal scale of one-digit labels."""


def check_levels(levels: list[dict]) -> None:
    """Check for two to ten named levels with ascending one-digit values."""
    values = [level["value"] for level in levels]
    if not 2 <= len(values) <= 10:
        raise ScaleNotValid(_("A scale has between two and ten levels."))
    if any(not isinstance(value, int) or not 0 <= value <= 9 for value in values):
        raise ScaleNotValid(_("Every label is one digit, because one key sets it."))
    if values != sorted(set(values)):
        raise ScaleNotValid(_("Labels must differ and be in ascending order."))
    if any(not level["name"].strip() for level in levels):
        raise ScaleNotValid(_("Every level needs a name."))
