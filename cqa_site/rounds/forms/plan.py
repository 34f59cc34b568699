"""What every plan of a round decides, as a form; page, API and command line read the same."""

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from cqa_site.people.models import Study

from ..kind import TaskKind
from .extent import Extent
from .save import LARGEST

LONGEST_INSTRUCTIONS = 20_000
# A legend, and rows of names of fields.
Groups = tuple[tuple[Any, tuple[tuple[str, ...], ...]], ...]


def skip_share_field() -> forms.FloatField:
    """How much people of a crowd may skip, for plans of kinds with something to skip."""
    return forms.FloatField(
        label=lazy("Largest share of skipped items"),
        required=False,
        min_value=0,
        max_value=1,
        initial=0.2,
        help_text=lazy(
            "Between 0 and 1, of the items that a crowd participant is asked for; one is always "
            "allowed. Who skips more ends with a code of its own. Members are only flagged. "
            "Empty: no limit."
        ),
    )


class PlanForm(forms.Form):
    """A draft round; a kind adds what its items are drawn by, and ``plan()``.

    ``planned`` stores a plan and draws its items. A field is kept in the round's column of that
    name, if there is one, else in its recipe.
    """

    kind: ClassVar[TaskKind]
    planned: ClassVar[Callable[..., Any]]
    # Legend and rows of fields that stand beside each other; what is not named comes at the end.
    groups: ClassVar[Groups] = ()

    name = forms.CharField(label=lazy("Name"), max_length=120)
    repeat_share: forms.Field | None = forms.FloatField(
        label=lazy("Share of own items that come a second time"),
        min_value=0,
        max_value=0.5,
        initial=0,
        help_text=lazy(
            "Shows how far people agree with themselves. Nobody is told which items these are."
        ),
    )
    lease_minutes: forms.Field | None = forms.IntegerField(
        label=lazy("Minutes an item stays reserved"),
        min_value=5,
        max_value=1440,
        initial=120,
        help_text=lazy("Counted from the last change. Drafts are kept in any case."),
    )
    seed = forms.IntegerField(
        label=lazy("Seed"),
        min_value=0,
        max_value=LARGEST,
        initial=1,
        help_text=lazy("The same seed and the same items give the same round again."),
    )
    instructions: forms.Field | None = forms.CharField(
        label=lazy("Instructions"),
        max_length=LONGEST_INSTRUCTIONS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text=lazy("Shown beside the form. Markdown."),
    )

    def __init__(self, *args: Any, study: Study, round_: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.round = study, round_
        # The plan's own fields stand between the name and what every round has.
        common = [each for each in PlanForm.base_fields if each != "name"]
        own = [each for each in self.fields if each not in PlanForm.base_fields]
        self.order_fields(["name", *own, *common])

    @classmethod
    def usual(cls, study: Study) -> dict[str, Any]:
        """What a new plan begins with in this study, beside the fields' own initial values."""
        return {}

    @classmethod
    def begun(cls, study: Study) -> dict[str, Any]:
        """What a new plan begins with."""
        fields = cls.base_fields.items()
        initial = {name: field.initial for name, field in fields if field.initial is not None}
        return initial | cls.usual(study)

    @classmethod
    def column(cls, name: str) -> Any:
        """The round's column of that name; None for what its recipe keeps."""
        columns = cls.kind.Round._meta.concrete_fields
        return next((each for each in columns if each.name == name), None)

    def stored(self) -> dict[str, Any]:
        """The plan of the round, rows by their ids; what is gone is left out."""
        return {name: _offered(field, self._kept(name)) for name, field in self.fields.items()}

    def _kept(self, name: str) -> Any:
        if self.column(name) is None:
            return self.round.recipe.get(name, self.fields[name].initial)
        value = getattr(self.round, name)
        return getattr(value, "public_id", value)

    @property
    def sections(self) -> list[tuple[Any, list[list[forms.BoundField]]]]:
        """The form as the page shows it: legend, and rows of fields."""
        named = {name for _legend, rows in self.groups for row in rows for name in row}
        rest = [[self[name]] for name in self.fields if name not in named and name != "name"]
        groups = [
            (legend, [[self[name] for name in row] for row in rows])
            for legend, rows in self.groups
        ]
        return [("", [[self["name"]]]), *groups, *([("", rest)] if rest else [])]

    @classmethod
    def next_name(cls, study: Study) -> str:
        """A name that no round of the kind has yet, so that a new plan can stay as it is."""
        rounds = cls.kind.Round._default_manager.filter(study=study)
        taken = set(rounds.values_list("name", flat=True))
        free = (_("Round %d") % number for number in range(1, len(taken) + 2))
        return next(name for name in free if name not in taken)

    def extent(self) -> Extent | None:
        """How much work the plan makes, counted and not drawn; None while a field is wrong.

        A name that is missing or taken changes nothing about that.
        """
        return None if set(self.errors) - {"name"} else self.measure()

    def measure(self) -> Extent:
        """As `extent`, of cleaned fields, in a few queries."""
        raise NotImplementedError

    @property
    def picks_later(self) -> bool:
        """Whether a new round begins without items, which are picked one by one."""
        return False

    def plan(self) -> Any:
        """What was chosen, as the kind's rounds are planned."""
        raise NotImplementedError

    def clean_name(self) -> str:
        """Keep names apart within the study."""
        name: str = self.cleaned_data["name"]
        others = self.kind.Round._default_manager.filter(study=self.study, name=name)
        if self.round is not None:
            others = others.exclude(pk=self.round.pk)
        if others.exists():
            raise ValidationError(_("Another round of this study has this name."))
        return name


def _offered(field: forms.Field, value: Any) -> Any:
    """What of a stored value can still be chosen."""
    rows: Any = getattr(field, "queryset", None)
    if isinstance(field, forms.ModelMultipleChoiceField):
        there = rows.filter(public_id__in=value or ())
        return [str(each) for each in there.values_list("public_id", flat=True)]
    if isinstance(field, forms.ModelChoiceField):
        return value if value and rows.filter(public_id=value).exists() else None
    if isinstance(field, forms.MultipleChoiceField):
        return [each for each in value or () if field.valid_value(each)]
    return value
