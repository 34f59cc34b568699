"""What is to be known about one version of the trained judge, as plain values."""

from typing import Any

from annotation.models import TrainedJudge

FORMAT = 1


def model_card(version: TrainedJudge) -> dict[str, Any]:
    """Data counts, recipe, library versions and figures; neither texts nor labels."""
    return {
        "format": FORMAT,
        "name": str(version),
        "kind": version.kind,
        "campaign": {"id": str(version.campaign.public_id), "name": version.campaign.name},
        "id": str(version.public_id),
        "number": version.number,
        "made_at": version.created_at.isoformat(),
        "model_sha256": version.sha256,
        **version.recipe,
        "figures": version.figures,
    }
