"""Forms for a crowd link's pay."""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.db import transaction
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as lazy

from cqa_site.people.actions import hold_people
from cqa_site.people.models import User
from cqa_site.rounds.crowd.pay import PAID_OUTCOMES, set_pay
from cqa_site.rounds.models import ParticipantLink

MOST, MOST_PER_ITEM = 10_000, 100
NAMES = ("reward", "item_bonus", "hourly_floor")


class Amount(forms.DecimalField):
    """An optional amount of money."""

    def __init__(self, most: int = MOST, **options: Any) -> None:
        limits: dict[str, Any] = {"min_value": Decimal(), "max_value": most, "decimal_places": 2}
        words = {"invalid": lazy("Enter an amount with a decimal point, such as 1.50.")}
        super().__init__(required=False, error_messages=words, **limits, **options)


class PayTermsForm(forms.Form):
    """The pay terms of a link; an empty amount means not set, and 0 means no pay."""

    reward = Amount(
        label=lazy("Reward"), help_text=lazy("Per completed participation, as on the platform.")
    )
    currency = forms.CharField(
        label=lazy("Currency"),
        max_length=3,
        help_text=lazy("The currency used on the platform. Amounts are not converted."),
        validators=[RegexValidator("^[A-Z]{3}$", lazy("Enter 3 capital letters, such as GBP."))],
    )
    hourly_floor = Amount(
        label=lazy("Hourly floor"),
        help_text=lazy("If the median of 10 or more participants is lower, a warning is shown."),
    )
    item_bonus = Amount(
        most=MOST_PER_ITEM,
        label=lazy("Bonus per item"),
        help_text=lazy("For each item answered in a completed participation. Skips do not count."),
    )

    advanced = tuple(f"pay_{outcome}" for outcome in PAID_OUTCOMES)

    def __init__(self, data: Any = None, *, link: ParticipantLink) -> None:
        super().__init__(data, initial=terms_of(link))
        self.link = link

    @transaction.atomic
    def store(self, actor: User) -> bool:
        """Store valid terms under a lock, so that no payment is confirmed in the meantime."""
        hold_people(self.link.study)
        self.link.refresh_from_db(fields=[*NAMES, "currency", "outcome_pay"])
        if self.is_valid():
            set_pay(link=self.link, actor=actor, values=self.values())
        return self.is_valid()

    def clean_currency(self) -> str:
        """Refuse to change the currency of confirmed payments."""
        currency: str = self.cleaned_data["currency"]
        if currency != self.link.currency and self.link.payments.exists():
            raise forms.ValidationError(
                lazy("Payments are confirmed in %(currency)s, so the currency cannot be changed."),
                params={"currency": self.link.currency},
            )
        return currency

    def values(self) -> dict[str, Any]:
        """Return the values for the link's columns."""
        data = self.cleaned_data
        amounts = {outcome: data[f"pay_{outcome}"] for outcome in PAID_OUTCOMES}
        stored = {
            str(outcome): str(amount) for outcome, amount in amounts.items() if amount is not None
        }
        return {name: data[name] for name in (*NAMES, "currency")} | {"outcome_pay": stored}


class SubmissionsForm(forms.Form):
    """The platform's export of the submissions to a study."""

    file = forms.FileField(label=lazy("Platform export (CSV)"), max_length=255)


PayTermsForm.base_fields |= {
    f"pay_{outcome}": Amount(label=format_lazy("{}: {}", lazy("Pay"), outcome.label))
    for outcome in PAID_OUTCOMES
}


def terms_of(link: ParticipantLink) -> dict[str, Any]:
    """Return a link's pay terms by form field."""
    stored = {name: getattr(link, name) for name in (*NAMES, "currency")}
    return stored | {f"pay_{outcome}": amount for outcome, amount in link.outcome_pay.items()}
