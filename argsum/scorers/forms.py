"""Forms for a new scorer: a model by name, the imported column, or a training."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from argsum.datasets.models import Dataset
from argsum.scorers.methods.training import (
    BOUNDS,
    WRITER_MODEL,
    WRITING_BOUNDS,
    ScorerRecipe,
    WritingRecipe,
)
from argsum.scorers.models import Scorer
from cqa_site.judging.embedding import PACKAGED_MODEL
from cqa_site.people.models import Study
from cqa_site.web.pages import offer

USUAL, USUAL_WRITING = ScorerRecipe(), WritingRecipe()
# Task and kind in one choice, so that no pair can be chosen that does not exist.
WAYS = {
    "match_bi": (_("Match: cosine of two sentence vectors"), "match", "bi_encoder"),
    "match_cross": (_("Match: model that reads both texts together"), "match", "cross_encoder"),
    "quality_cross": (_("Quality: model that reads the argument"), "quality", "cross_encoder"),
    "quality_column": (_("Quality: imported column"), "quality", "column"),
}
LONGEST_TEXT = 2_000
# Of the recipe, checked against its bounds.
NUMBERS = ("batch", "learning_rate", "contrast", "entropy", "members", "checks", "patience")


class NameField(forms.CharField):
    """Name of the scorer; unique in its study, which the action checks."""

    def __init__(self) -> None:
        super().__init__(label=_("Name"), max_length=120)


class ModelField(forms.CharField):
    """Name of a model that sentence-transformers knows."""

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
    """A scorer that needs no training."""

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
        help_text=_("The score above which two texts match. Leave empty for none."),
    )
    uses_topic = forms.BooleanField(
        label=_("Prepend the topic to the texts"),
        required=False,
        help_text=_("Only for models trained this way."),
    )

    def clean(self) -> dict[str, Any]:
        """Require a model for every task but the column."""
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


class TrainForm(forms.Form):
    """A scorer that learns from a dataset of the study."""

    advanced = ("seed", "steps", *NUMBERS, "uses_topic")
    name = NameField()
    task = forms.ChoiceField(
        label=_("Task"),
        choices=[
            ("match", _("Match: key point of an argument")),
            ("quality", _("Quality: imported column, from the text")),
        ],
    )
    dataset = forms.ModelChoiceField(
        label=_("Dataset"),
        queryset=Dataset.objects.none(),
        to_field_name="public_id",
        help_text=_("Trained on its train split; weights and threshold are chosen on dev."),
    )
    model = ModelField(initial=PACKAGED_MODEL)
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=int(BOUNDS["seed"][1]), initial=USUAL.seed
    )
    steps = forms.IntegerField(
        label=_("Batches"), min_value=1, max_value=5_000, initial=USUAL.steps, required=False
    )
    batch = forms.IntegerField(label=_("Arguments per batch"), initial=USUAL.batch, required=False)
    learning_rate = forms.FloatField(
        label=_("Learning rate"), initial=USUAL.learning_rate, required=False
    )
    contrast = forms.FloatField(
        label=_("Contrastive loss weight"), initial=USUAL.contrast, required=False
    )
    entropy = forms.FloatField(
        label=_("Cross-entropy weight"), initial=USUAL.entropy, required=False
    )
    members = forms.IntegerField(
        label=_("Models to average"),
        initial=USUAL.members,
        required=False,
        help_text=_(
            "The models are trained one after the other with consecutive seeds; each takes as "
            "long as the first."
        ),
    )
    checks = forms.IntegerField(
        label=_("Checks on the dev split"), initial=USUAL.checks, required=False
    )
    patience = forms.IntegerField(
        label=_("Checks without improvement"),
        initial=USUAL.patience,
        required=False,
        help_text=_("Training stops early after this many in a row."),
    )
    uses_topic = forms.BooleanField(
        label=_("Prepend the topic to the texts"), initial=USUAL.uses_topic, required=False
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, dataset=study.argument_datasets.all())

    def clean(self) -> dict[str, Any]:
        """Report numbers out of range at their fields."""
        cleaned = super().clean() or {}
        for name in NUMBERS:
            value, (lowest, highest) = cleaned.get(name), BOUNDS[name]
            if value is not None and not lowest <= value <= highest:
                text = _("Between %(lowest)s and %(highest)s.")
                self.add_error(name, text % {"lowest": lowest, "highest": highest})
        if not self.errors and cleaned.get("contrast") == 0 == cleaned.get("entropy"):
            self.add_error("contrast", _("Give at least one of the two losses a weight."))
        return cleaned

    def recipe(self) -> ScorerRecipe:
        """Return the default recipe with the given values."""
        cleaned_data = self.cleaned_data
        names = [name for name in self.advanced if cleaned_data.get(name) is not None]
        return ScorerRecipe(**{name: cleaned_data[name] for name in names})


class WriterTrainForm(forms.Form):
    """A writer that learns from a dataset of the study."""

    advanced = ("seed", "epochs", "batch", "learning_rate")
    name = NameField()
    dataset = forms.ModelChoiceField(
        label=_("Dataset"),
        queryset=Dataset.objects.none(),
        to_field_name="public_id",
        help_text=_(
            "Learns to write each reference key point in the train split from its arguments; the "
            "epoch is chosen on dev."
        ),
    )
    model = ModelField(
        initial=WRITER_MODEL,
        help_text=_(
            "Enter the name of a folder in “models” in the data folder, or of a model on the "
            "Hugging Face Hub, if the server has access."
        ),
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=int(WRITING_BOUNDS["seed"][1]),
        initial=USUAL_WRITING.seed,
    )
    epochs = forms.IntegerField(
        label=_("Epochs"),
        min_value=1,
        max_value=int(WRITING_BOUNDS["epochs"][1]),
        initial=USUAL_WRITING.epochs,
        required=False,
    )
    batch = forms.IntegerField(
        label=_("Key points per batch"),
        min_value=1,
        max_value=int(WRITING_BOUNDS["batch"][1]),
        initial=USUAL_WRITING.batch,
        required=False,
    )
    learning_rate = forms.FloatField(
        label=_("Learning rate"),
        min_value=WRITING_BOUNDS["learning_rate"][0],
        max_value=WRITING_BOUNDS["learning_rate"][1],
        initial=USUAL_WRITING.learning_rate,
        required=False,
        help_text=_("The paper uses 0.0004."),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, dataset=study.argument_datasets.all())

    def recipe(self) -> WritingRecipe:
        """Return the default recipe with the given values."""
        cleaned_data = self.cleaned_data
        names = [name for name in self.advanced if cleaned_data.get(name) is not None]
        return WritingRecipe(**{name: cleaned_data[name] for name in names})


class TryForm(forms.Form):
    """One or two texts to score immediately."""

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
