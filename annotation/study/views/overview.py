"""Overview page of a study: next steps for each role, and current activity."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from django.contrib.humanize.templatetags.humanize import naturaltime
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from annotation.consensus.actions.decisions import disputed_rounds
from annotation.judges.reports.results import judged_rounds
from cqa_site.files.registration import files_waiting
from cqa_site.people.access import EVERYONE, StudyRequest, study_page
from cqa_site.people.models import Role, Study
from cqa_site.results.snapshots import KINDS
from cqa_site.rounds.access import held_at_steps, held_back
from cqa_site.rounds.kind import kind_of, kinds
from cqa_site.rounds.models import Round
from cqa_site.rounds.progress import TaskCard, rounds_of, waiting_for
from cqa_site.runs.kinds import about
from cqa_site.runs.models import Run
from cqa_site.runs.progress import add_counts, state_in_words
from cqa_site.web.navigation import path_of, paths

MOST_SHOWN = 6
# Maximum number of people listed by name.
LISTED = 20
# Minimum number of finished items for an estimate of the remaining time.
ENOUGH = 5
# Minimum time for an estimate, because the first minutes are not representative.
LEAST_PACE = timedelta(hours=1)


@dataclass(frozen=True)
class OngoingWork:
    """An active round or run.

    ``ends_at`` is extrapolated from the pace, if known.

    ``state`` is empty if the work continues normally.
    """

    name: str
    kind: str
    url: str
    done: int
    wanted: int
    state: str
    ends_at: datetime | None


@dataclass(frozen=True)
class LatestResult:
    """The latest computed figures or the latest labels from judges."""

    what: str
    name: str
    url: str
    says: str
    at: datetime


@dataclass(frozen=True)
class PendingFigures:
    """A page of figures that has data but has not been opened yet."""

    what: str
    name: str
    url: str
    says: str


def things_waiting(study: Study) -> list[TaskCard]:
    """Return the files, runs, people and labels that require a decision."""
    return [
        *_files(study),
        *_runs(study),
        *_people(study),
        *_people_at_steps(study),
        *_disputes(study),
    ]


def _files(study: Study) -> Iterator[TaskCard]:
    if count := files_waiting(study):
        title = ngettext("%(count)s upload to review", "%(count)s uploads to review", count)
        yield TaskCard(
            title % {"count": count},
            _("The dry run is done. Nothing is stored until you confirm."),
            _("Imports"),
            reverse("imports", args=[study.public_id]),
        )


def _runs(study: Study) -> Iterator[TaskCard]:
    waiting = study.runs.filter(state__in=Run.WAITING).select_related("relevance__label_round")
    for run in waiting[:MOST_SHOWN]:
        details = {"number": run.number, "name": about(run)}
        yield TaskCard(
            _("Run #%(number)s to review: %(name)s") % details,
            state_in_words(run),
            _("Open the run"),
            reverse("run", args=[study.public_id, run.public_id]),
        )


def _people(study: Study) -> Iterator[TaskCard]:
    """Yield, by round, people who failed the practice items, and paused people."""
    places = held_back(study).select_related("round", "rater").order_by("round", "pk")
    for round_, group in groupby(places[:LISTED], key=lambda place: place.round):
        names, kind = [str(place.rater) for place in group], kind_of(round_)
        page = "quality" if kind.excludes_by_rule else kind.audit.round
        yield TaskCard(
            _("%(people)s cannot continue: %(name)s")
            % {"people": ", ".join(names), "name": round_.name},
            _(
                "Too few of their practice answers matched the known answers, or a rule paused "
                "them. Let them in or keep them out."
            ),
            _("Decide"),
            reverse(page, args=[study.public_id, round_.public_id]),
        )


def _people_at_steps(study: Study) -> Iterator[TaskCard]:
    """Yield, by round, people who did not pass the onboarding steps."""
    places = held_at_steps(study, LISTED)
    for round_, group in groupby(places, key=lambda place: place.round):
        names, version = [str(place.rater) for place in group], round_.onboarding
        page = reverse("onboarding", args=[study.public_id, version.onboarding.public_id])
        yield TaskCard(
            _("%(people)s cannot continue: %(name)s")
            % {"people": ", ".join(names), "name": round_.name},
            _(
                "They did not pass a step before the work. Let them in or exclude them from the "
                "round."
            ),
            _("Decide"),
            f"{page}?version={version.number}#people",
        )


def _disputes(study: Study) -> Iterator[TaskCard]:
    for label_round in disputed_rounds(study):
        count = vars(label_round)["disputes"]
        title = ngettext(
            "%(count)s label in dispute: %(name)s", "%(count)s labels in dispute: %(name)s", count
        )
        yield TaskCard(
            title % {"count": f"{count:,}", "name": label_round.name},
            _("Votes tie or are at opposite ends of the scale. An expert must decide."),
            _("Open the queue"),
            reverse("adjudication", args=[study.public_id, label_round.public_id]),
        )


def ongoing_work(study: Study) -> list[OngoingWork]:
    """Return open rounds and active runs, with one query per kind and two for runs."""
    now = timezone.now()
    return [*_ongoing_rounds(study, now), *_ongoing_runs(study, now)]


def _ongoing_rounds(study: Study, now: datetime) -> Iterator[OngoingWork]:
    going = (Round.State.OPEN, Round.State.PAUSED)
    for kind in kinds():
        # Imported rounds have no ongoing work.
        opened = rounds_of(kind, study).filter(state__in=going, opened_at__isnull=False)
        for round_ in opened[:MOST_SHOWN]:
            yield OngoingWork(
                round_.name,
                str(kind.words.rounds),
                reverse(kind.audit.round, args=[study.public_id, round_.public_id]),
                round_.done,
                round_.wanted,
                round_.get_state_display() if round_.state == Round.State.PAUSED else "",
                _end(round_.opened_at, now, round_.done, round_.wanted, least=LEAST_PACE),
            )


def _ongoing_runs(study: Study, now: datetime) -> Iterator[OngoingWork]:
    going = (Run.State.DRAFT, *Run.WORKING)
    runs = study.runs.filter(state__in=going).select_related("relevance__label_round")
    working = list(runs[:MOST_SHOWN])
    add_counts(working)
    for run in working:
        if run.planning_failed:
            continue
        yield OngoingWork(
            f"#{run.number} {about(run)}",
            _("Judges"),
            reverse("run", args=[study.public_id, run.public_id]),
            run.ended,
            run.planned,
            "" if run.state == Run.State.RUNNING else run.get_state_display(),
            _end(run.started_at, now, run.ended, run.planned),
        )


def _end(
    since: datetime | None, now: datetime, done: int, wanted: int, least: timedelta = timedelta(0)
) -> datetime | None:
    if since is None or now - since < least or done < ENOUGH or done >= wanted:
        return None
    return now + (now - since) * ((wanted - done) / done)


def results_of(study: Study) -> list[LatestResult]:
    """Return the newest figures of each kind and verdicts on judges, with one query per kind."""
    results = [*_snapshots(study), *_verdicts(study)]
    return sorted(results, key=lambda result: result.at, reverse=True)[:MOST_SHOWN]


def _snapshots(study: Study) -> Iterator[LatestResult]:
    for kind in KINDS.values():
        for snapshot in kind.newest(study)[:MOST_SHOWN]:
            at = snapshot.frozen_at or snapshot.computed_at
            says = _("frozen %s") if snapshot.frozen_at else _("computed %s")
            status = says % naturaltime(at)
            yield LatestResult(
                str(kind.what), kind.about(snapshot), kind.url(snapshot), status, at
            )


def _verdicts(study: Study) -> Iterator[LatestResult]:
    """Yield verdicts on label judges, which have no snapshots but exist once there are labels."""
    for label_round in judged_rounds(study)[:MOST_SHOWN]:
        at = vars(label_round)["judged_at"]
        page = reverse("judges", args=[study.public_id, label_round.public_id])
        yield LatestResult(
            _("Judges"), label_round.name, page, _("labelled %s") % naturaltime(at), at
        )


# Overview page of a study, with next steps for each role
#
# Annotators only see their own work, without totals, names and controls.


@study_page(*EVERYONE)
def overview(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the page for the member's role."""
    if request.membership.is_researcher:
        return _researcher_page(request, study)
    if request.membership.role == Role.EXPERT:
        return _expert_page(request, study)
    context = {"study": study, "waiting": waiting_for(request.membership)}
    return render(request, "annotation/study/overview_annotator.html", context)


def _expert_page(request: StudyRequest, study: Study) -> HttpResponse:
    context = {
        "study": study,
        "queues": disputed_rounds(study),
        "waiting": waiting_for(request.membership),
    }
    return render(request, "annotation/study/overview_expert.html", context)


def _researcher_page(request: StudyRequest, study: Study) -> HttpResponse:
    if request.htmx:
        context = {"study": study, "ongoing": ongoing_work(study)}
        return render(request, "annotation/study/_ongoing.html", context)
    chosen = path_of(request.GET.get("path") or study.goal)
    steps = chosen.steps(study)
    context = {
        "study": study,
        "paths": paths(),
        "chosen": chosen,
        "steps": steps,
        "terms": chosen.terms_in(steps),
        "next_step": next((step for step in steps if not step.is_done), None),
        "waiting": things_waiting(study),
        "ongoing": ongoing_work(study),
        "results": results_of(study),
        "unmade": [
            PendingFigures(str(kind.what), name, url, str(kind.unmade_says))
            for kind in KINDS.values()
            for name, url in kind.unmade(study)
        ][:MOST_SHOWN],
    }
    return render(request, "annotation/study/overview_researcher.html", context)


urlpatterns = [path("", overview, name="study")]
