"""From people's labels to the question whether a judge may go on without them."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from annotation.judges.actions.relevance_judge import KIND
from annotation.labelling.models.campaigns import campaigns_of
from annotation.labelling.models.votes import Assignment
from cqa_site.people.models import Rater, Study
from cqa_site.runs.models import Endpoint, Run
from cqa_site.web.navigation.paths import Path, Step, step

PEOPLE = (Rater.Kind.PERSON, Rater.Kind.EXPERT)


def steps(study: Study) -> list[Step]:
    """Labels of people, a model, a run, the comparison."""
    from cqa_site.stats.reliability.alternative_annotator import ADVISED_HUMANS

    by_people = Assignment.objects.filter(
        campaign__study=study, state=Assignment.State.ANSWERED, rater__kind__in=PEOPLE
    )
    runs = Run.objects.filter(study=study, kind=KIND, state=Run.State.DONE)
    finished = runs.select_related("relevance__campaign").first()
    labelled = campaigns_of(study).filter(pk__in=by_people.values("campaign"))
    # What the judge labelled is what people have to have labelled, too.
    campaign = finished.relevance.campaign if finished else labelled.first()
    raters = by_people.filter(campaign=campaign).order_by().values("rater").distinct().count()
    is_enough = raters >= ADVISED_HUMANS
    return [
        _people(study, raters, is_enough=is_enough, has_rounds=campaigns_of(study).exists()),
        _model(study),
        step(
            study,
            title=_("Let it label the same arguments"),
            text=_("You see what it will cost and try a few before the run goes on by itself."),
            button=_("New run"),
            page="run_new" if campaign else "runs",
            is_done=finished is not None,
            of=campaign,
        ),
        step(
            study,
            title=_("Read the verdict"),
            text=_("Whether the judge agrees with people as well as they agree with each other."),
            button=_("Judges compared"),
            page="judges" if campaign else "runs",
            is_done=finished is not None and is_enough,
            of=campaign,
        ),
    ]


def _people(study: Study, raters: int, *, is_enough: bool, has_rounds: bool) -> Step:
    found = ngettext("%(count)s person labelled", "%(count)s people labelled", raters)
    text = found % {"count": raters}
    asked = _("Three people at least on the same arguments: label here, or import their votes.")
    return step(
        study,
        title=_("Have labels of people"),
        text=f"{text}." if is_enough else f"{text}. {asked}",
        button=_("Label rounds") if has_rounds else _("Import labels or arguments"),
        page="campaigns" if has_rounds else "imports",
        is_done=is_enough,
    )


def _model(study: Study) -> Step:
    count = Endpoint.objects.filter(study=study, is_archived=False).count()
    found = ngettext("%(count)s model can be asked.", "%(count)s models can be asked.", count)
    asked = _("Any endpoint that speaks like OpenAI's, or the small model in the box.")
    return step(
        study,
        title=_("Connect a model"),
        text=found % {"count": count} if count else asked,
        button=_("Endpoints"),
        page="endpoints",
        is_done=count > 0,
    )


JUDGE = Path(
    "judge",
    lazy("Can a judge replace my annotators?"),
    lazy("A language model labels what people labelled, and is compared with each of them."),
    steps,
    place=30,
    terms=("judge", "endpoint", "prompt version", "run", "unscored"),
)
