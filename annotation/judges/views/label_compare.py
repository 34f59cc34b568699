"""Label sets of a campaign beside any rater: the page and its tables as files."""

import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.consensus.actions.consensus import active_job
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.files import table_file


@study_page(*RESEARCHERS)
def label_compare(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Show each label set of a campaign beside the rater chosen, step by step."""
    from annotation.judges.reports.label_compare import RECIPE, SETS, choices

    campaign = _campaign(study, campaign_id)
    offered = choices(study)
    key = request.GET.get("with") or (offered[0][0] if offered else "")
    context = {
        "study": study,
        "section": "campaigns",
        "campaign": campaign,
        "choices": offered,
        "sets": SETS.items(),
        "recipe": RECIPE,
        "key": key,
        "job": active_job(campaign),
        **(_compared(campaign, key, _set_of(request)) if key else {}),
    }
    if key and key not in dict(offered):
        context["choices"] = [*offered, (key, context["name"])]
    return render(request, "annotation/judges/label_compare.html", context)


@study_page(*RESEARCHERS)
def label_compare_table(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the sets or the confusion as CSV, LaTeX or Markdown."""
    from annotation.judges.reports.label_compare import confusion_table, steps_table

    campaign = _campaign(study, campaign_id)
    found = _compared(campaign, request.GET.get("with", ""), _set_of(request))
    if figure == "sets":
        return table_file(steps_table(campaign, found["name"], found["rows"]), format)
    if figure == "confusion":
        chosen, confusion = found["chosen"], found["confusion"]
        return table_file(confusion_table(found["name"], chosen, confusion), format)
    raise Http404


def _compared(campaign: Campaign, key: str, chosen: str) -> dict[str, Any]:
    from annotation.judges.reports.label_compare import SETS, compare_sets, confusion_with, said_by

    found = said_by(campaign.study, key)
    if found is None:
        raise Http404
    name, said = found
    rows = compare_sets(campaign, said)
    return {
        "name": name,
        "rows": rows,
        "steps": [row for row in rows if row["is_step"]],
        "chosen": chosen,
        "chosen_title": SETS[chosen],
        "confusion": confusion_with(campaign, said, chosen),
    }


def _set_of(request: StudyRequest) -> str:
    """The label set asked for; the final labels for anything else."""
    from annotation.judges.reports.label_compare import SETS

    asked = request.GET.get("set", "")
    return asked if asked in SETS else "final"


def _campaign(study: Study, campaign_id: uuid.UUID) -> Campaign:
    campaigns = campaigns_of(study).select_related("guideline")
    return get_object_or_404(campaigns, public_id=campaign_id)


BASE = "campaigns/<uuid:campaign_id>/labels/compare"
urlpatterns = [
    path(f"{BASE}/", label_compare, name="label_compare"),
    path(f"{BASE}/<slug:figure>.<str:format>", label_compare_table, name="label_compare_table"),
]
