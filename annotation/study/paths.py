"""Steps that take a study from no data to relevant arguments and to a tested judge."""

from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from annotation.judges.actions.relevance_judge import KIND
from annotation.labelling.actions.blocks import LABELS
from annotation.labelling.models import Assignment, LabelRound, label_rounds_of
from cqa_site.people.models import Rater, Role, Study
from cqa_site.rounds.models import Participant
from cqa_site.rounds.progress import rounds_of
from cqa_site.runs.models import Endpoint, Run
from cqa_site.web.navigation import Path, StudyStep, step

# Older rounds do not affect the next step.
NEWEST = 6


def relevance_steps(study: Study) -> list[StudyStep]:
    """Return the steps: arguments, a round, people, labels, figures."""
    rounds = list(rounds_of(LABELS, study)[:NEWEST])
    voted = next((label_round for label_round in rounds if label_round.votes), None)
    begun = [label_round for label_round in rounds if label_round.state != LabelRound.State.DRAFT]
    # An open round determines the next step, even if a newer round is closed.
    opened = min(begun, key=lambda row: row.state == LabelRound.State.CLOSED, default=None)
    return [
        _arguments(study),
        _round(study, rounds, opened),
        _annotators_step(study, opened or next(iter(rounds), LabelRound())),
        _labels(study, opened),
        _figures(study, voted),
    ]


def _arguments(study: Study) -> StudyStep:
    count = study.arguments.count()
    sentence = ngettext(
        "%(count)s argument in this study.", "%(count)s arguments in this study.", count
    )
    hint = _(
        "Upload a table, JSON file or workbook. You see its content before anything is stored."
    )
    return step(
        study,
        title=_("Import arguments"),
        text=sentence % {"count": f"{count:,}"} if count else hint,
        button=_("Import more arguments") if count else _("Import arguments"),
        page="imports?kind=table",
        is_done=count > 0,
    )


def _round(study: Study, rounds: list[Any], opened: Any | None) -> StudyStep:
    title = _("Open a label round")
    draft = next(
        (label_round for label_round in rounds if label_round.state == LabelRound.State.DRAFT),
        None,
    )
    if draft and not opened:
        text = _("“%s” is a draft: choose its items and control items, then open it.") % draft
        button = _("Continue the draft")
        return step(
            study,
            title=title,
            text=text,
            button=button,
            page="label_round",
            is_done=False,
            of=draft,
        )
    return step(
        study,
        title=title,
        text=_(
            "A round defines which arguments to label, the number of labels per argument and the "
            "guideline."
        ),
        button=_("New label round"),
        page="label_round_new",
        is_done=opened is not None,
    )


def _annotators_step(study: Study, about: Any) -> StudyStep:
    """Return the step for annotators, which is done once an argument can get all its votes."""
    members = _members(study) + Participant.objects.filter(link__round=about.pk).count()
    wanted = about.votes_per_item if about.is_live else 1
    sentence = ngettext("%(count)s person can label", "%(count)s people can label", members)
    text = sentence % {"count": f"{members:,}"}
    if wanted > 1:
        text += _("; each argument needs %(wanted)s labels") % {"wanted": wanted}
    hint = _(
        "On the round's page, an admin invites each person with a separate link; crowd links "
        "admit people from a platform."
    )
    sentences = [f"{text}."] if members else []
    if members < wanted:
        sentences.append(hint)
    return step(
        study,
        title=_("Add annotators"),
        text=" ".join(sentences),
        button=_("View round") if about.pk else _("Label rounds"),
        page="label_round" if about.pk else "label_rounds",
        other=(_("People"), "members"),
        is_done=members >= wanted or not about.is_live,
        of=about if about.pk else None,
    )


def _members(study: Study) -> int:
    """Count members with accounts who can label; crowd participants belong to a single round."""
    people = study.memberships.filter(role__in=(Role.ANNOTATOR, Role.EXPERT), is_active=True)
    return people.filter(user__participant__isnull=True).count()


def _labels(study: Study, opened: Any | None) -> StudyStep:
    title = _("Collect labels")
    if opened is None:
        text = _(
            "Annotators get one argument after another. Control items, if any, are hidden "
            "among them."
        )
        return _later(study, title, text)
    text = ngettext(
        "%(done)s of %(wanted)s vote on ordinary items has been received.",
        "%(done)s of %(wanted)s votes on ordinary items have been received.",
        opened.wanted,
    ) % {"done": f"{opened.done:,}", "wanted": f"{opened.wanted:,}"}
    return step(
        study,
        title=title,
        text=text if opened.is_live else _("Labels were imported from a file."),
        button=_("View round"),
        page="label_round",
        is_done=_has_all(opened),
        of=opened,
    )


def _has_all(round_: Any) -> bool:
    """Whether all requested labels are complete."""
    return round_.done >= round_.wanted if round_.is_live else round_.votes > 0


def _figures(study: Study, voted: Any | None) -> StudyStep:
    title = _("View the figures")
    if voted is None:
        text = _("Agreement, accuracy on control items and final labels, once there are labels.")
        return _later(study, title, text)
    text = _("Agreement, accuracy on control items and final labels of “%s”.") % voted
    return step(
        study,
        title=title,
        text=text,
        button=_("Figures"),
        page="figures",
        # Figures are computed when their page is opened.
        is_done=_has_all(voted) and voted.snapshots.exists(),
        of=voted,
    )


def _later(study: Study, title: str, text: str) -> StudyStep:
    """Return a step that requires a round."""
    return step(
        study, title=title, text=text, button=_("Label rounds"), page="label_rounds", is_done=False
    )


RELEVANCE = Path(
    "relevance",
    lazy("Are these arguments relevant?"),
    lazy("People label arguments from 0 to 3. Several labels per argument give a final label."),
    relevance_steps,
    groups=frozenset(("data", "label", "study")),
    place=10,
    terms=("argument", "round", "control item", "vote", "majority label", "alpha"),
)

PEOPLE = (Rater.Kind.PERSON, Rater.Kind.EXPERT)


def judge_steps(study: Study) -> list[StudyStep]:
    """Return the steps: people's labels, a model, a run, and the comparison."""
    from cqa_site.stats.alternative_annotator import ADVISED_HUMANS

    by_people = Assignment.objects.filter(
        round__study=study, state=Assignment.State.ANSWERED, rater__kind__in=PEOPLE
    )
    runs = Run.objects.filter(study=study, kind=KIND, state=Run.State.DONE)
    finished = runs.select_related("relevance__label_round").first()
    labelled = label_rounds_of(study).filter(pk__in=by_people.values("round"))
    # People must have labelled the same round as the judge.
    label_round = finished.relevance.label_round if finished else labelled.first()
    raters = by_people.filter(round=label_round).order_by().values("rater").distinct().count()
    is_enough = raters >= ADVISED_HUMANS
    return [
        _labels_step(study, raters, is_enough=is_enough),
        _model(study),
        step(
            study,
            title=_("Let the model label the same arguments"),
            text=_(
                "You see the cost and can try a few calls before the run continues on its own."
            ),
            button=_("New run"),
            page="run_new" if label_round else "runs",
            is_done=finished is not None,
            of=label_round,
        ),
        step(
            study,
            title=_("View the verdict"),
            text=_("Whether the judge agrees with people as well as they agree with each other."),
            button=_("Compare judges"),
            page="judges" if label_round else "runs",
            is_done=finished is not None and is_enough,
            of=label_round,
        ),
    ]


def _labels_step(study: Study, raters: int, *, is_enough: bool) -> StudyStep:
    button, page = _("Import labels or arguments"), "imports"
    if label_rounds_of(study).exists():
        button, page = _("Label rounds"), "label_rounds"
    elif study.arguments.exists():
        button, page = _("New label round"), "label_round_new"
    sentence = ngettext(
        "%(count)s person has labelled arguments",
        "%(count)s people have labelled arguments",
        raters,
    )
    text = sentence % {"count": raters}
    hint = _(
        "At least three people must label the same arguments. Collect labels here or import votes."
    )
    return step(
        study,
        title=_("Get labels from people"),
        text=f"{text}." if is_enough else f"{text}. {hint}",
        button=button,
        page=page,
        is_done=is_enough,
    )


def _model(study: Study) -> StudyStep:
    count = Endpoint.objects.filter(study=study, is_archived=False).count()
    sentence = ngettext("%(count)s model is available.", "%(count)s models are available.", count)
    hint = _("Any OpenAI-compatible endpoint, or the small built-in model.")
    return step(
        study,
        title=_("Connect a model"),
        text=sentence % {"count": count} if count else hint,
        button=_("Endpoints"),
        page="endpoints",
        is_done=count > 0,
    )


JUDGE = Path(
    "judge",
    lazy("Can a judge replace my annotators?"),
    lazy(
        "A language model labels the arguments that people labelled, and its labels are "
        "compared with those of each person."
    ),
    judge_steps,
    groups=frozenset(("data", "label", "judges", "study")),
    place=30,
    terms=("judge", "endpoint", "prompt version", "run", "unscored"),
)
