"""What is to be known about one version of the trained judge, as plain values."""

from typing import Any

from django.utils.translation import gettext as _

from annotation.judges.models import TrainedJudge

FORMAT = 1


def model_card(version: TrainedJudge) -> dict[str, Any]:
    """Data counts, recipe, library versions and figures; neither texts nor labels."""
    return {
        "format": FORMAT,
        "name": str(version),
        "kind": version.kind,
        "label_round": {"id": str(version.campaign.public_id), "name": version.campaign.name},
        "id": str(version.public_id),
        "number": version.number,
        "made_at": version.created_at.isoformat(),
        "model_sha256": version.sha256,
        **version.recipe,
        "figures": version.figures,
    }


def recipe_rows(version: TrainedJudge) -> list[tuple[str, str]]:
    """How a version was made, in words: name and value of each part of its recipe."""
    names = {
        "labels_from": _("Final labels of"),
        "labels_by_value": _("Labels by value"),
        "labels_by_origin": _("Labels by origin"),
        "scale": _("Scale"),
        "guideline": _("Guideline"),
        "embedding": _("Sentence embeddings"),
        "held_back": _("Held back together"),
        "label": _("Label given"),
        "seed": _("Seed"),
        "versions": _("Versions"),
    }
    return [(name, _text(version.recipe.get(key))) for key, name in names.items()]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {part}" for name, part in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "–" if value is None else str(value)
