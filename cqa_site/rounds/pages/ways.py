"""Where the page of a sheet leads: to the person's own sheets, or on through a trial."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from ..how_far import HowFar
from ..kind import kind_of, sheet_kind_of


@dataclass(frozen=True)
class Trial:
    """What a page says of itself that stores nothing: which item it is, of how many."""

    number: int
    all: int
    # The page of the round, and those of the items beside this one.
    round: str
    before: str = ""
    after: str = ""

    @property
    def far(self) -> HowFar:
        """As if whoever looks had done the items before."""
        return HowFar(self.number - 1, self.all - self.number + 1)


@dataclass(frozen=True)
class Ways:
    """Addresses of one sheet, and of what is around it."""

    form: str
    save: str
    submit: str
    own: str
    work: str
    trial: Trial | None = None


def ways_of(sheet: Any) -> Ways:
    """Those that a trial gave to the sheet, or the usual ones."""
    given: Ways | None = getattr(sheet, "ways", None)
    return given or _usual(sheet)


def _usual(sheet: Any) -> Ways:
    kind, study = sheet_kind_of(sheet), sheet.round.study.public_id
    name, mine, around = kind.work_page, [study, sheet.public_id], [study, sheet.round.public_id]
    return Ways(
        form=reverse(kind.sheet_page, args=mine),
        save=reverse(f"{name}_save", args=mine),
        submit=reverse(f"{name}_submit", args=mine),
        own=reverse(f"{name}_own", args=around),
        work=reverse(name, args=around),
    )


def trial_of(round_: Any, number: int, count: int) -> Trial:
    """What a page says that shows an item on trial."""
    kind, study = kind_of(round_), round_.study.public_id
    address = reverse(kind.audit.round, args=[study, round_.public_id])

    def of(number: int) -> str:
        is_there = 1 <= number <= count
        ids = [study, round_.public_id, number]
        return reverse(f"{kind.work_page}_trial", args=ids) if is_there else ""

    return Trial(number, count, address, before=of(number - 1), after=of(number + 1))


def trial_ways(round_: Any, number: int, count: int) -> Ways:
    """Ways on which nothing is stored."""
    name, ids = sheet_kind_of(round_).work_page, [round_.study.public_id, round_.public_id, number]
    trial = trial_of(round_, number, count)
    return Ways(
        form=reverse(f"{name}_trial", args=ids),
        save=reverse(f"{name}_trial_save", args=ids),
        submit=reverse(f"{name}_trial_submit", args=ids),
        own=trial.round,
        work=trial.after or trial.round,
        trial=trial,
    )
