"""A rubric on its way: as a page shows it, as a person changes it, as `Rubric` judges it."""

from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.rubrics.methods.rubric import (
    HINTS,
    MOST_CRITERIA,
    MOST_POINTS,
    Criterion,
    Group,
    Level,
    Rubric,
    RubricError,
)

MOST_GROUPS = 12
POINTS = range(MOST_POINTS + 1)
HINT_NAMES = {
    "sentences": gettext_lazy("Sentences"),
    "repeats": gettext_lazy("Repeated phrases"),
    "citations": gettext_lazy("Citations"),
    "words": gettext_lazy("Words"),
}


@dataclass
class CriterionDraft:
    """One criterion as typed; levels stand for 0, 1 and 2 points, used or not."""

    name: str = ""
    asks: str = ""
    group: str = ""
    maximum: str = "1"
    counted_by: str = ""
    texts: list[str] = field(default_factory=lambda: [""] * len(POINTS))
    examples: list[str] = field(default_factory=lambda: [""] * len(POINTS))

    @property
    def levels(self) -> list[tuple[int, str, str]]:
        """Points, text and example of each level."""
        return list(zip(POINTS, self.texts, self.examples, strict=True))

    def criterion(self, key: str) -> Criterion:
        """What the rubric takes; an impossible maximum stays impossible."""
        most = int(self.maximum) if self.maximum in map(str, POINTS) else 0
        levels = tuple(Level(*level) for level in self.levels[: most + 1])
        counted_by = self.counted_by if self.counted_by in HINTS else None
        return Criterion(key, self.group, self.name, self.asks, most, levels, counted_by)


@dataclass
class RubricDraft:
    """Everything typed; nothing of it is lost when something is wrong."""

    name: str = ""
    allows_halves: bool = False
    groups: list[tuple[str, str]] = field(default_factory=list)
    criteria: list[CriterionDraft] = field(default_factory=list)
    # Name of a field → what is wrong with it.
    errors: dict[str, str] = field(default_factory=dict)
    # Place of the criterion that a button has just added or moved.
    opened: int | None = None

    def change(self, do: str) -> None:
        """Add, remove or move what a button names, for example ``remove-3``; else do nothing."""
        verb, _dash, number = do.partition("-")
        if verb == "add" and number == "group" and len(self.groups) < MOST_GROUPS:
            self.groups.append((self._free_key(), ""))
        elif verb == "add" and number == "criterion" and len(self.criteria) < MOST_CRITERIA:
            last = self.criteria[-1].group if self.criteria else self._first_group()
            self.criteria.append(CriterionDraft(group=last))
            self.opened = len(self.criteria) - 1
        elif number.isdecimal() and len(number) < 4:
            self._change_one(verb, int(number))

    def _change_one(self, verb: str, at: int) -> None:
        rows = self.criteria
        if verb == "drop" and at < len(self.groups):
            del self.groups[at]
        elif at >= len(rows):
            return
        elif verb == "remove":
            del rows[at]
        elif verb == "up" and at > 0:
            rows[at - 1], rows[at] = rows[at], rows[at - 1]
            self.opened = at - 1
        elif verb == "down" and at + 1 < len(rows):
            rows[at + 1], rows[at] = rows[at], rows[at + 1]
            self.opened = at + 1

    def _first_group(self) -> str:
        return self.groups[0][0] if self.groups else ""

    def _free_key(self) -> str:
        taken = {key for key, _name in self.groups}
        numbers = range(1, MOST_GROUPS + 2)
        return next(f"group-{number}" for number in numbers if f"group-{number}" not in taken)

    def rubric(self) -> Rubric | None:
        """The rubric, or None with `errors` at the fields; maxima of groups follow."""
        self.errors = {}
        criteria = tuple(
            each.criterion(f"C{place}") for place, each in enumerate(self.criteria, start=1)
        )
        for place, criterion in enumerate(criteria):
            self._check_criterion(place, criterion)
        sums = {key: 0 for key, _name in self.groups}
        for criterion in criteria:
            sums[criterion.group] = sums.get(criterion.group, 0) + criterion.maximum
        for place, (key, name) in enumerate(self.groups):
            if not name.strip():
                self.errors[f"g{place}-name"] = _("is empty")
            elif not sums[key]:
                self.errors[f"g{place}-name"] = _("no criterion belongs to this group")
        groups = tuple(Group(key, name.strip(), sums[key]) for key, name in self.groups)
        try:
            made = Rubric(self.name.strip(), groups, criteria, self.allows_halves)
        except RubricError as error:
            if error.field == "name" and error.criterion is None:
                self.errors["name"] = error.reason
            elif not self.errors:
                self.errors["rubric"] = f"{error.field}: {error.reason}"
            return None
        return None if self.errors else made

    def _check_criterion(self, place: int, criterion: Criterion) -> None:
        """One error of each criterion, so that a person need not come back for the next."""
        if criterion.group not in dict(self.groups):
            self.errors[f"c{place}-group"] = _("choose a group")
            return
        try:
            alone = replace(criterion, key="C1")
            Rubric("-", (Group(alone.group, "-", alone.maximum),), (alone,))
        except RubricError as error:
            # The place of the criterion in the page, and which of its fields.
            where, _blank, points = error.field.partition(" ")
            names = {"level": f"text{points}", "example": f"example{points}"}
            self.errors[f"c{place}-{names.get(where, where)}"] = error.reason
