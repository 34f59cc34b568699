"""Which rounds have labels of machines: where a verdict on judges stands."""

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.consensus.reports import MACHINES
from annotation.judges.models import JudgeLabel
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from annotation.labelling.models.votes import Assignment
from cqa_site.people.models import Study


def judged_rounds(study: Study) -> QuerySet[Campaign]:
    """Rounds with labels of a machine, newest first, each with ``judged_at``; one query."""
    labels = JudgeLabel.objects.filter(campaign=OuterRef("pk"), label__isnull=False)
    imported = Assignment.objects.filter(
        rater__study=study, rater__kind__in=MACHINES, state=Assignment.State.ANSWERED
    )
    newest = Subquery(labels.order_by("-pk").values("at")[:1])
    return (
        campaigns_of(study)
        .filter(Q(Exists(labels)) | Q(pk__in=imported.values("campaign")))
        .annotate(judged_at=Coalesce(newest, "created_at"))
        .order_by("-pk")
    )
