"""How much work a plan makes, before anything is drawn: items, answers, time and money."""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from django import forms
from django.utils.translation import gettext_lazy as lazy

MOST_PAY = 100_000


@dataclass(frozen=True)
class Extent:
    """What a plan makes; ``people`` is how many it takes at least.

    ``answers`` are all that are asked for, those to known items included; ``seconds`` is how long
    one takes, where somebody can say.
    """

    items: int
    answers: int
    people: int
    known: int = 0
    seconds: float | None = None

    @property
    def each(self) -> int:
        """Answers of one person, where as few people as can be share them."""
        return ceil(self.answers / self.people) if self.people else 0

    @property
    def minutes_each(self) -> int | None:
        """Minutes of one person."""
        return None if self.seconds is None else ceil(self.each * self.seconds / 60)

    @property
    def hours(self) -> float | None:
        """Hours of everybody together."""
        return None if self.seconds is None else self.answers * self.seconds / 3600

    def cost(self, pay: Decimal | None) -> Decimal | None:
        """What the hours cost."""
        if pay is None or self.hours is None:
            return None
        return (Decimal(self.hours) * pay).quantize(Decimal("0.01"))


class PayForm(forms.Form):
    """What an hour is paid, for the estimate alone: it is kept nowhere."""

    pay = forms.DecimalField(
        label=lazy("Pay for an hour"),
        required=False,
        min_value=Decimal(0),
        max_value=MOST_PAY,
        decimal_places=2,
        help_text=lazy("For the estimate here, in your currency. It is not stored."),
    )

    @property
    def given(self) -> Decimal | None:
        """The pay, where one was given."""
        found: Decimal | None = self.cleaned_data.get("pay") if self.is_valid() else None
        return found
