"""How money, times and short names of the ledger look on pages."""

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
    """Millionths of a currency unit as units with two to four decimals."""
    if micro is None:
        return "–"
    units = Decimal(micro) / MILLION
    if 0 < units < SMALLEST:
        return "< 0.0001"
    whole, _point, decimals = f"{units:,.4f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}" if units else "0"


@register.filter
def price(units: Decimal) -> str:
    """A price per million tokens without idle zeros."""
    return progress.price(units)


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds as people say them: 40 s, 12 min, 3 h 20 min."""
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
    """How long a reply took: 640 ms, 2.4 s, 64 s, 12 min."""
    if number < 1_000:
        return _("%d ms") % number
    return _("%.1f s") % (number / 1_000) if number < 10_000 else duration(number / 1_000)


@register.filter
def reason(name: str) -> str:
    """Why a call is unscored, or an attempt failed."""
    return progress.reason_in_words(name)


@register.filter
def text_flag(name: str) -> str:
    """What was noticed about a judged text."""
    return str(progress.TEXT_FLAGS.get(name, name))


@register.filter
def problem(name: str) -> str:
    """What speaks against going on after the pre-flight."""
    return str(progress.PROBLEMS.get(name, name))


@register.filter
def capability(name: str) -> str:
    """What an endpoint can do."""
    return str(progress.CAPABILITIES.get(name, name))


@register.filter
def state_sentence(run: Run) -> str:
    """What a run does now, or why it does nothing."""
    return progress.state_in_words(run)


@register.filter
def unusable(run: Run) -> str:
    """What its requests without a usable value are called."""
    return str(kinds.unusable(run))


@register.filter
def call_state(call: Call) -> str:
    """The state of a request, in the words of its run's kind."""
    if call.state == Call.State.UNSCORED:
        return unusable(call.run)
    return str(call.get_state_display())


@register.filter
def failure(text: str) -> str:
    """A stored failure with its detail, as a sentence."""
    return progress.failure_in_words(text)
