"""Into which campaign the labels of a file go, and which labels there are."""

from pathlib import Path

from annotation.labelling.actions.guidelines import default_levels
from annotation.labelling.models.campaigns import Campaign
from cqa_site.files.actions.rows import Source

LONGEST_CAMPAIGN_NAME = 100


def campaign_of(source: Source) -> str:
    """The name asked for, or the file's without its ending."""
    stem = Path(source.name).stem or source.name
    return (source.text("label_round") or stem)[:LONGEST_CAMPAIGN_NAME]


def scale_of(source: Source) -> tuple[int, ...]:
    """Labels of the campaign's guideline, else of the study's newest, else 0–3."""
    named = Campaign.objects.filter(study=source.study, name=source.options.get("label_round", ""))
    found = named.select_related("guideline").first()
    guideline = found.guideline if found else source.study.guidelines.first()
    levels = guideline.levels if guideline else default_levels()
    return tuple(level["value"] for level in levels)
