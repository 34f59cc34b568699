"""Forms for key point analysis: new analyses, filters and edits."""

import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext, gettext_lazy as _

from argsum.analysis.actions.edits import LONGEST_TEXT
from argsum.analysis.actions.point_writing import KIND, PROMPTS, STATEMENTS, WORDS, target_of
from argsum.analysis.actions.themes import LONGEST_THEME
from argsum.analysis.models import Analysis
from argsum.analysis.reports.analyses import StatementSearch
from argsum.analysis.reports.voices import VOICES, unit_of
from argsum.datasets.models import Cell, Comment, NearDuplicateGroup
from argsum.scorers.actions.encoders import installed_encoders
from argsum.scorers.actions.scorers import default_scorers
from argsum.scorers.methods.encoders import SHIPPED
from argsum.scorers.models import Scorer
from cqa_site.people.models import Study, User
from cqa_site.runs.forms.plan import RunPlanForm, differing
from cqa_site.web.pages import offer

LONGEST_SEARCH = 200
TO_THEME, RENAME_THEME, MERGE_THEMES = THEME_VERBS = ("to_theme", "rename_theme", "merge_themes")
TAKE_ALL, REPLACE, SPLIT_ALL, MERGE, ADD, RENAME, MOVE, SPLIT = (
    "take_all",
    "replace",
    "split_all",
    "merge",
    "add",
    "rename",
    "move",
    "split",
)
STATE_VERBS = ("hidden", "shown", "taken", "declined")
# Target of statements that fit no key point.
NOWHERE = "none"
# The page of an analysis lists themes, or key points regardless of theme.
POINTS = "points"


class CellField(forms.ModelChoiceField):
    """Choice of a topic, labelled with its dataset."""

    def label_from_instance(self, obj: Any) -> str:
        """Return the dataset and the cell, with its stance if it has one."""
        return f"{obj.dataset.name}: {obj if obj.stance else obj.topic}"


class AnalysisForm(forms.Form):
    """Topic and scorers of a new analysis. By default, the comments determine the scorers."""

    advanced = ("match_scorer", "encoder", "quality_scorer")

    cell = CellField(label=_("Topic"), queryset=Cell.objects.none(), empty_label=None)
    match_scorer = forms.ModelChoiceField(
        label=_("Match scorer"),
        queryset=Scorer.objects.none(),
        required=False,
        empty_label=_("default"),
        help_text=_("Decides which comments mean the same thing."),
    )
    encoder = forms.ChoiceField(
        label=_("Encoder"),
        required=False,
        help_text=_("Reads the comments. Default: chosen for the language of the comments."),
    )
    quality_scorer = forms.ModelChoiceField(
        label=_("Quality scorer"),
        queryset=Scorer.objects.none(),
        required=False,
        empty_label=_("default"),
        help_text=_("Decides which statement is good enough to become the key point."),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ready = study.scorers.filter(state=Scorer.State.READY)
        pairs = Scorer.Kind.CROSS_ENCODER
        own = Cell.objects.filter(dataset__study=study).select_related("dataset")
        offer(
            self,
            cell=own.order_by("dataset__name", "position"),
            match_scorer=ready.filter(task=Scorer.Task.MATCH).exclude(kind=pairs),
            quality_scorer=ready.filter(task=Scorer.Task.QUALITY),
        )
        encoders = [(encoder.name, encoder.title) for encoder in installed_encoders()]
        usual = [("", _("default")), (SHIPPED, _("the match scorer’s own encoder"))]
        offer(self, encoder=[*usual, *encoders])
        if not encoders:
            # There is nothing to choose.
            del self.fields["encoder"]
        begun = self.initial.get("cell") or _newest(own)
        self.initial["cell"] = begun
        # This also creates the first scorers of a study.
        self.usual = default_scorers(study, begun.dataset if begun else None)


def _newest(cells: QuerySet[Cell]) -> Cell | None:
    """Return the first topic of the newest dataset, preferring datasets with comments."""
    has_comments = Exists(Comment.objects.filter(cell=OuterRef("pk")))
    rows = cells.alias(has_comments=has_comments)
    return rows.order_by("-has_comments", "-dataset__created_at", "position").first()


class NarrowForm(forms.Form):
    """Filters for the statements and comments that a page shows and counts.

    With ``themes``, the names of all themes, the form also decides whether the page lists themes
    or key points.
    """

    q = forms.CharField(label=_("Statement contains"), required=False, max_length=LONGEST_SEARCH)
    group = forms.ChoiceField(label=_("Comments from"), required=False)
    first = forms.DateField(
        label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    last = forms.DateField(
        label=_("To"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    count = forms.ChoiceField(
        label=_("Count"),
        required=False,
        choices=[("", _("comments")), (VOICES, _("distinct voices"))],
    )
    view = forms.ChoiceField(
        required=False, choices=[("", ""), (POINTS, "")], widget=forms.HiddenInput
    )
    theme = forms.ChoiceField(label=_("Theme"), required=False)

    def __init__(
        self, *args: Any, analysis: Analysis, themes: Sequence[str] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        columns = analysis.facets.get("attributes", {})
        groups = [
            (column, [(json.dumps([column, value]), f"{value} ({n:,})") for value, n in values])
            for column, values in columns.items()
        ]
        offer(self, group=[("", _("all")), *groups])
        if not groups:
            del self.fields["group"]
        if not analysis.facets.get("first"):
            del self.fields["first"], self.fields["last"]
        if analysis.voices == analysis.comments:
            del self.fields["count"]
        self.has_themes = bool(themes)
        offer(self, theme=[("", _("all")), *((name, name) for name in themes)])
        if not self.has_themes:
            del self.fields["view"]
        if not self.has_themes or self.data.get("view") != POINTS:
            del self.fields["theme"]

    @property
    def lists_themes(self) -> bool:
        """Whether the page lists themes. Call after `narrowing`."""
        return self.has_themes and self.cleaned_data.get("view") != POINTS

    def narrowing(self) -> StatementSearch:
        """Return the requested filters, or no filters if any value is invalid."""
        if not self.is_valid():
            return StatementSearch()
        data = self.cleaned_data
        column, value = json.loads(data["group"]) if data.get("group") else ("", "")
        first, last = data.get("first"), data.get("last")
        query = {name: str(data.get(name) or "") for name in self.base_fields}
        unit = unit_of(data.get("count"))
        return StatementSearch(data["q"], column, value, first, last, tuple(query.items()), unit)


class PointsForm(forms.Form):
    """An edit of key points or themes: merge, hide, move, rename, or add a key point."""

    verb = forms.ChoiceField(
        choices=[
            (action, action)
            for action in (MERGE, ADD, TAKE_ALL, REPLACE, *STATE_VERBS, *THEME_VERBS)
        ]
    )
    text = forms.CharField(required=False, max_length=LONGEST_TEXT)
    # The target theme of key points, and the new name of a theme.
    to_theme = forms.CharField(required=False, max_length=LONGEST_THEME)
    name = forms.CharField(required=False, max_length=LONGEST_THEME)
    into = forms.UUIDField(required=False)
    seen = forms.IntegerField(min_value=0)


class PointForm(forms.Form):
    """An edit of one key point, or of statements that belong to it or to none."""

    verb = forms.ChoiceField(
        choices=[
            (action, action) for action in (RENAME, MOVE, SPLIT, SPLIT_ALL, TO_THEME, *STATE_VERBS)
        ]
    )
    text = forms.CharField(required=False, max_length=LONGEST_TEXT)
    to_theme = forms.CharField(required=False, max_length=LONGEST_THEME)
    # The public id of a key point, or "none".
    to = forms.CharField(required=False, max_length=36)
    # All statements that match the page's filters, instead of the chosen ones.
    every = forms.BooleanField(required=False)
    seen = forms.IntegerField(min_value=0)


class AnalysisRunForm(RunPlanForm):
    """A language-model run for one finished analysis, with one reply per request.

    A subclass defines the function that builds its target, the fields for the target, and the
    field for the number of entries in a reply, with the number of tokens per entry.
    """

    target_of: ClassVar[Callable[..., dict[str, Any]]]
    sizes: ClassVar[tuple[str, ...]]
    entries: ClassVar[tuple[str, int] | None] = None
    analysis: forms.ModelChoiceField = forms.ModelChoiceField(
        label=_("Analysis"), queryset=None, empty_label=None, widget=forms.HiddenInput
    )

    def __init__(
        self,
        *args: Any,
        study: Study,
        actor: User,
        analysis: Analysis | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, study=study, actor=actor, **kwargs)
        offer(self, analysis=study.analyses.filter(state=Analysis.State.DONE))
        self.fields["replicates"].widget = forms.HiddenInput()
        if analysis is not None:
            self.fields["analysis"].initial = analysis.pk

    def clean(self) -> dict[str, Any]:
        """Check fields that depend on each other."""
        data = super().clean()
        if data.get("replicates") != 1:
            self.complain("replicates", gettext("Only one reply per request is possible."))
        return data

    @property
    def tokens_wanted(self) -> int | None:
        """A sufficient token limit if the chosen limit is too low; otherwise None."""
        name, tokens = self.entries or ("words", 0)
        wanted, limit = self.cleaned_data[name] * tokens, self.cleaned_data.get("max_tokens")
        return wanted if limit and limit < wanted else None

    @property
    def target(self) -> dict[str, Any]:
        """The target of the run, as stored in its spec."""
        sizes = {name: self.cleaned_data[name] for name in self.sizes}
        return self.target_of(self.cleaned_data["analysis"], **sizes)


class PointWritingForm(AnalysisRunForm):
    """The language model and prompt for writing the key points of an analysis."""

    kind = KIND
    prompt_kinds = tuple(PROMPTS)
    target_of = staticmethod(target_of)
    sizes = ("words", "most_statements")

    words = forms.IntegerField(
        label=_("Maximum words per key point"), initial=WORDS, min_value=3, max_value=60
    )
    most_statements = forms.IntegerField(
        label=_("Maximum statements shown"),
        initial=STATEMENTS,
        min_value=3,
        max_value=100,
        help_text=_("For each key point, best matches first."),
    )
    max_tokens = differing(
        "max_tokens",
        initial=300,
        help_text=_(
            "The default is enough for one sentence; allow more for models that reason "
            "first. A truncated reply is requested once more with twice as many tokens."
        ),
    )


class GroupForm(forms.Form):
    """A change to one comment in a group of near-duplicates or, by default, to the whole group."""

    comment = forms.ModelChoiceField(
        queryset=Comment.objects.none(), required=False, to_field_name="public_id"
    )
    is_out = forms.TypedChoiceField(
        choices=[("1", "1"), ("0", "0")], coerce=lambda value: value == "1"
    )

    def __init__(self, *args: Any, group: NearDuplicateGroup, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, comment=Comment.objects.filter(duplicate__group=group))
