"""Forms for new scorers: a model by name, the imported column, or training."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from argsum.datasets.models import Dataset
from argsum.scorers.methods.training import WRITER_MODEL, ScorerRecipe, WritingRecipe
from argsum.scorers.models import Scorer
from cqa_site.judging.embedding import PACKAGED_MODEL
from cqa_site.people.models import Study
from cqa_site.web.pages import offer

Recipe = type[ScorerRecipe] | type[WritingRecipe]
# Task and kind in one choice, so that only valid pairs can be chosen.
WAYS = {
    "match_bi": (_("Match: cosine of two sentence vectors"), "match", "bi_encoder"),
    "match_cross": (_("Match: model that reads both texts together"), "match", "cross_encoder"),
    "quality_cross": (_("Quality: model that reads the argument"), "quality", "cross_encoder"),
    "quality_column": (_("Quality: imported column"), "quality", "column"),
}
LONGEST_TEXT = 2_000
NUMBERS = ("batch", "learning_rate", "contrast", "entropy", "members", "checks", "patience")


class NameField(forms.CharField):
    """Name of the scorer; the action checks that it is unique in the study."""

    def __init__(self) -> None:
        super().__init__(label=_("Name"), max_length=120)


class ModelField(forms.CharField):
    def __init__(self, **changed: Any) -> None:
        usual: dict[str, Any] = {
            "label": _("Model"),
            "max_length": 200,
            "help_text": _(
                "all-MiniLM-L6-v2 is built in. Enter the name of a folder in “models” in the "
                "data folder, or of a model on the Hugging Face Hub, if the server has access."
            ),
        }
        super().__init__(**usual | changed)


class ScorerForm(forms.Form):
    name = NameField()
    way = forms.ChoiceField(
        label=_("Task"), choices=[(key, option[0]) for key, option in WAYS.items()]
    )
    model = ModelField(required=False)
    threshold = forms.FloatField(
        label=_("Match threshold"),
        min_value=-1,
        max_value=1,
        required=False,
        help_text=_(
            "Two texts match if their score is above this value. Leave empty for no threshold."
        ),
    )
    uses_topic = forms.BooleanField(
        label=_("Prepend the topic to the texts"),
        required=False,
        help_text=_("Only for models trained this way."),
    )

    def clean(self) -> dict[str, Any]:
        """Require a model unless the imported column is chosen."""
        cleaned = super().clean() or {}
        if cleaned.get("way") not in (None, "quality_column") and not cleaned.get("model"):
            self.add_error("model", _("Enter the name of a model."))
        return cleaned

    def wanted(self) -> dict[str, Any]:
        """Return the arguments of `argsum.scorers.actions.scorers.add_scorer`."""
        cleaned_data = self.cleaned_data
        _label, task, kind = WAYS[cleaned_data["way"]]
        return {
            "name": cleaned_data["name"],
            "task": task,
            "kind": kind,
            "base_model": "" if kind == "column" else cleaned_data["model"],
            "threshold": cleaned_data["threshold"] if task == "match" else None,
            "uses_topic": cleaned_data["uses_topic"],
        }


class DatasetField(forms.ModelChoiceField):
    def __init__(self, help_text: Any) -> None:
        super().__init__(
            label=_("Dataset"),
            queryset=Dataset.objects.none(),
            to_field_name="public_id",
            help_text=help_text,
        )


def number(
    recipe: Recipe, name: str, label: Any, help_text: Any = "", most: int | None = None
) -> forms.IntegerField:
    """Return a field for a number in a recipe, with its bounds and its default."""
    usual = getattr(recipe(), name)
    bounds: tuple[Any, Any] = recipe.bounds[name]
    kind: Any = forms.FloatField if isinstance(usual, float) else forms.IntegerField
    field: forms.IntegerField = kind(
        label=label,
        min_value=bounds[0],
        max_value=most or bounds[1],
        initial=usual,
        required=name == "seed",
        help_text=help_text,
    )
    return field


class TrainingRecipeForm(forms.Form):
    """A model trained on a dataset of the study; ``advanced`` lists the fields of the recipe."""

    advanced: tuple[str, ...] = ()
    recipe_type: Recipe

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, dataset=study.argument_datasets.all())

    def request(self) -> dict[str, Any]:
        """Return the arguments of `request_training`; empty fields use the recipe's defaults."""
        cleaned = self.cleaned_data
        given = {name: cleaned[name] for name in self.advanced if cleaned.get(name) is not None}
        return {
            "name": cleaned["name"],
            "task": cleaned.get("task", Scorer.Task.WRITE),
            "dataset": cleaned["dataset"],
            "base_model": cleaned["model"],
            "recipe": self.recipe_type(**given),
        }


class TrainForm(TrainingRecipeForm):
    """A scorer trained on a dataset of the study."""

    recipe_type = ScorerRecipe
    advanced = ("seed", "steps", *NUMBERS, "uses_topic")
    name = NameField()
    task = forms.ChoiceField(
        label=_("Task"),
        choices=[
            ("match", _("Match: key point of an argument")),
            ("quality", _("Quality: predict an imported column from the text")),
        ],
    )
    dataset = DatasetField(
        _("Trained on the dataset's train split; weights and threshold are chosen on dev.")
    )
    model = ModelField(initial=PACKAGED_MODEL)
    seed = number(ScorerRecipe, "seed", _("Seed"))
    steps = number(ScorerRecipe, "steps", _("Batches"), most=5_000)
    batch = number(ScorerRecipe, "batch", _("Arguments per batch"))
    learning_rate = number(ScorerRecipe, "learning_rate", _("Learning rate"))
    contrast = number(ScorerRecipe, "contrast", _("Contrastive loss weight"))
    entropy = number(ScorerRecipe, "entropy", _("Cross-entropy weight"))
    members = number(
        ScorerRecipe,
        "members",
        _("Models to average"),
        _(
            "The models are trained one after the other with consecutive seeds; each takes as "
            "long as the first."
        ),
    )
    checks = number(ScorerRecipe, "checks", _("Checks on the dev split"))
    patience = number(
        ScorerRecipe,
        "patience",
        _("Checks without improvement"),
        _("Training stops early after this many checks in a row."),
    )
    uses_topic = forms.BooleanField(
        label=_("Prepend the topic to the texts"), initial=ScorerRecipe.uses_topic, required=False
    )

    def clean(self) -> dict[str, Any]:
        """Require at least one of the two losses."""
        cleaned = super().clean() or {}
        if not self.errors and cleaned.get("contrast") == 0 and not cleaned.get("entropy"):
            self.add_error("contrast", _("Enter a weight for at least one of the two losses."))
        return cleaned


class WriterTrainForm(TrainingRecipeForm):
    """A writer trained on a dataset of the study."""

    recipe_type = WritingRecipe
    advanced = ("seed", "epochs", "batch", "learning_rate")
    name = NameField()
    dataset = DatasetField(
        _(
            "Learns to write each reference key point in the train split from its arguments; the "
            "epoch is chosen on dev."
        )
    )
    model = ModelField(
        initial=WRITER_MODEL,
        help_text=_(
            "Enter the name of a folder in “models” in the data folder, or of a model on the "
            "Hugging Face Hub, if the server has access."
        ),
    )
    seed = number(WritingRecipe, "seed", _("Seed"))
    epochs = number(WritingRecipe, "epochs", _("Epochs"))
    batch = number(WritingRecipe, "batch", _("Key points per batch"))
    learning_rate = number(
        WritingRecipe, "learning_rate", _("Learning rate"), _("The paper uses 0.0004.")
    )


class TryForm(forms.Form):
    first = forms.CharField(
        label=_("Argument"), max_length=LONGEST_TEXT, widget=forms.Textarea(attrs={"rows": 3})
    )
    second = forms.CharField(
        label=_("Key point, or another argument"),
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    topic = forms.CharField(label=_("Topic"), max_length=500, required=False)

    def __init__(self, *args: Any, scorer: Scorer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if scorer.task == Scorer.Task.QUALITY:
            del self.fields["second"]
        if scorer.uses_topic:
            self.fields["topic"].help_text = _(
                "This scorer was trained on texts with their topic."
            )
        elif scorer.kind != Scorer.Kind.COLUMN:
            del self.fields["topic"]
