"""Label sets of a campaign beside any rater: the page and its tables as files."""

import uuid
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.translation import gettext as _

from annotation.consensus.actions.consensus import active_job
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import Figure, Files, figure_file


@study_page(*RESEARCHERS)
def label_compare(request: StudyRequest, study: Study, campaign_id: uuid.UUID) -> HttpResponse:
    """Show each label set of a campaign beside the rater chosen, step by step."""
    from annotation.judges.reports.label_compare import SETS, choices

    campaign = _campaign(study, campaign_id)
    offered = choices(study)
    key = request.GET.get("with") or (offered[0][0] if offered else "")
    context = {
        "study": study,
        "campaign": campaign,
        "choices": offered,
        "sets": SETS.items(),
        "key": key,
        "job": active_job(campaign),
        **(_compared(campaign, key, _set_of(request)) if key else {}),
    }
    if key and key not in dict(offered):
        context["choices"] = [*offered, (key, context["name"])]
    return render(request, "annotation/judges/label_compare.html", context)


@study_page(*RESEARCHERS)
def label_compare_figure(
    request: StudyRequest, study: Study, campaign_id: uuid.UUID, figure: str, format: str
) -> HttpResponse:
    """Send the sets or the confusion as CSV, LaTeX or Markdown."""
    campaign, key = _campaign(study, campaign_id), request.GET.get("with", "")
    cards = _compared(campaign, key, _set_of(request))["cards"]
    return figure_file(request, cards, figure, format)


def _compared(campaign: Campaign, key: str, chosen: str) -> dict[str, Any]:
    from annotation.judges.reports.label_compare import (
        RECIPE,
        SETS,
        compare_sets,
        confusion_table,
        confusion_with,
        said_by,
        steps_table,
    )

    found = said_by(campaign.study, key)
    if found is None:
        raise Http404
    name, said = found
    rows = compare_sets(campaign, said)
    confusion = confusion_with(campaign, said, chosen)
    place = (campaign.study.public_id, campaign.public_id)
    files = Files(view="label_compare_figure", ids=place, query=urlencode({"with": key}))
    sets = Figure(
        slug="sets",
        title=_("Step by step beside %s") % name,
        recipe=RECIPE,
        table=steps_table(campaign, name, rows),
        body="annotation/judges/_label_sets.html",
        data=rows,
        files=files,
    )
    matrix = Figure(
        slug="confusion",
        title=SETS[chosen],
        about=_("beside %s") % name,
        recipe=_("Rows: the label set; columns: %s. Shares are of the row.") % name,
        table=confusion_table(name, chosen, confusion),
        body="annotation/judges/_label_confusion.html",
        data=confusion,
        files=replace(files, query=urlencode({"with": key, "set": chosen})),
    )
    return {"name": name, "chosen": chosen, "cards": [sets, matrix]}


def _set_of(request: StudyRequest) -> str:
    """The label set asked for; the final labels for anything else."""
    from annotation.judges.reports.label_compare import SETS

    asked = request.GET.get("set", "")
    return asked if asked in SETS else "final"


def _campaign(study: Study, campaign_id: uuid.UUID) -> Campaign:
    campaigns = campaigns_of(study).select_related("guideline")
    return get_object_or_404(campaigns, public_id=campaign_id)


BASE = "label-rounds/<uuid:campaign_id>/labels/compare"
urlpatterns = [
    path(f"{BASE}/", label_compare, name="label_compare"),
    path(f"{BASE}/<slug:figure>.<str:format>", label_compare_figure, name="label_compare_figure"),
]
