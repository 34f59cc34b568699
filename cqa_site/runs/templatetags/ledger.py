"""Template filters for money, times and short names of the ledger."""

from decimal import Decimal

from django import template
from django.utils.translation import gettext as _

from cqa_site.runs import kinds, progress
from cqa_site.runs.models import Call, Run

register = template.Library()
MILLION = 1_000_000
SMALLEST = Decimal("0.0001")


@register.filter
def money(micro: float | None) -> str:
    """Format millionths of a currency unit as units with two to four decimals."""
    if micro is None:
        return "–"
    units = Decimal(micro) / MILLION
    if 0 < units < SMALLEST:
        return "< 0.0001"
    whole, _point, decimals = f"{units:,.4f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}" if units else "0"


@register.filter
def price(units: Decimal) -> str:
    """Format a price per million tokens without trailing zeros."""
    return progress.price(units)


@register.filter
def duration(seconds: float | None) -> str:
    """Format seconds as 40 s, 12 min or 3 h 20 min."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 90:
        return _("%d s") % whole
    minutes = round(whole / 60)
    if minutes < 90:
        return _("%d min") % minutes
    return _("%(hours)d h %(minutes)d min") % {"hours": minutes // 60, "minutes": minutes % 60}


@register.filter
def milliseconds(number: float) -> str:
    """Format a reply time as 640 ms, 2.4 s, 64 s or 12 min."""
    if number < 1_000:
        return _("%d ms") % number
    return _("%.1f s") % (number / 1_000) if number < 10_000 else duration(number / 1_000)


@register.filter
def reason(name: str) -> str:
    """Explain why a call is unscored or an attempt failed."""
    return progress.reason_in_words(name)


@register.filter
def text_flag(name: str) -> str:
    """Describe a flag on a judged text."""
    return str(progress.TEXT_FLAGS.get(name, name))


@register.filter
def problem(name: str) -> str:
    """Describe a problem found in the pre-flight."""
    return str(progress.PROBLEMS.get(name, name))


@register.filter
def capability(name: str) -> str:
    """Describe a capability of an endpoint."""
    return str(progress.CAPABILITIES.get(name, name))


@register.filter
def state_sentence(run: Run) -> str:
    """Describe what a run is currently doing, or why it is idle."""
    return progress.state_in_words(run)


@register.filter
def unusable(run: Run) -> str:
    """Return the kind's term for requests without a usable value."""
    return str(kinds.unusable(run))


@register.filter
def call_state(call: Call) -> str:
    """Return the state of a request in the terms of its run's kind."""
    if call.state == Call.State.UNSCORED:
        return unusable(call.run)
    return str(call.get_state_display())


@register.filter
def failure(text: str) -> str:
    """Format a stored failure with its detail as a sentence."""
    return progress.failure_in_words(text)
