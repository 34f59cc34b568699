"""Pages for the adjudication queue and the final labels."""

import uuid
from collections import Counter
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, F, Q, QuerySet
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.translation import gettext as _

from annotation.consensus.actions import consensus, decisions
from annotation.consensus.actions.consensus import keep_current, prefer_labels
from annotation.consensus.forms import AdjudicationForm, AdoptForm, ConsensusForm, MoveForm
from annotation.consensus.models import Adjudication, FinalLabel
from annotation.consensus.reports import label_source, labels_finding
from annotation.corpus.methods.sentences import split_sentence
from annotation.corpus.models import Argument
from annotation.labelling.models import LabelRound
from annotation.labelling.views.rounds import label_round_or_404
from cqa_site.people.access import EXPERTS, RESEARCHERS, StudyRequest, study_page
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Rater, Study
from cqa_site.rounds.pages.replies import kept_offline
from cqa_site.rounds.progress import TaskProgress, pace
from cqa_site.web.pages import wants_json
from cqa_site.web.rest.queries import id_from

TEMPLATE = "annotation/consensus/adjudication.html"
DECISIONS_PER_PAGE = 20
MAX_SKIPPED = 500
# Number of recent decisions used for a person's pace; a longer gap (in seconds) is a break.
PACED, LONGEST_PAUSE = 50, 300


@study_page(*EXPERTS)
def adjudication(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """Show the next disputed sentence, or the one in ?unit=; accept a label, a skip or an undo."""
    label_round = label_round_or_404(study, label_round_id)
    if "move" in request.POST:
        return _move(request, study, label_round)
    form = AdjudicationForm(request.POST or None, label_round=label_round)
    if request.method == "POST" and form.is_valid():
        return _decide(request, study, label_round, form)
    if form.errors and wants_json(request):
        detail = " ".join(str(text) for texts in form.errors.values() for text in texts)
        return JsonResponse({"detail": detail}, status=422)
    context = _adjudication_page(request, study, label_round) | {"form": form}
    reply = render(request, TEMPLATE, context, status=422 if form.errors else 200)
    return kept_offline(reply, request)


def _decide(
    request: StudyRequest, study: Study, label_round: LabelRound, form: AdjudicationForm
) -> HttpResponse:
    """Store the decision, or show it next to a decision made in the meantime."""
    cleaned_data = form.cleaned_data
    argument = get_object_or_404(_arguments(label_round), public_id=cleaned_data.pop("argument"))
    rater = rater_for(membership=request.membership)
    try:
        decision = decisions.adjudicate(
            label_round=label_round, argument=argument, rater=rater, **cleaned_data
        )
    except decisions.DecidedMeanwhile as late:
        conflict = {
            "detail": str(late),
            "stored": late.stored,
            "mine": cleaned_data,
            "argument": argument,
        }
        context = _adjudication_page(request, study, label_round) | {
            "form": form,
            "conflict": conflict,
        }
        if not wants_json(request):
            return render(request, TEMPLATE, context, status=409)
        card = render_to_string("annotation/consensus/_conflict.html", context, request)
        known = late.stored.created_at.isoformat() if late.stored else ""
        body = {"detail": str(late), "known": known, "card": card}
        return JsonResponse(body, status=409)
    if not wants_json(request):
        return redirect(_queue(request, study, label_round))
    saved = {"argument": str(argument.public_id), "known": decision.created_at.isoformat()}
    key = request.POST.get("client_key", "")
    return JsonResponse({"saved": saved | {"comment": decision.comment, "client_key": key}})


def _move(request: StudyRequest, study: Study, label_round: LabelRound) -> HttpResponse:
    """Move a sentence to the end of the queue until sign-out, or undo the last decision."""
    form, address = MoveForm(request.POST), _queue(request, study, label_round)
    argument = _wanted(request, label_round)
    if form.is_valid() and form.cleaned_data["move"] == "undo":
        rater, known = rater_for(membership=request.membership), form.cleaned_data["known"]
        undone = decisions.undo_last(label_round=label_round, rater=rater, known=known)
        if undone is None:
            messages.info(request, _("You have no decision to undo."))
        else:
            messages.success(request, _taken_back(undone))
            address = f"{address.partition('?')[0]}?unit={undone.argument.public_id}"
    elif form.is_valid() and argument:
        skipped = [pk for pk in _skipped(request, label_round) if pk != argument.pk]
        request.session[_session_key(label_round)] = [*skipped, argument.pk][-MAX_SKIPPED:]
    else:
        raise Http404
    if not wants_json(request):
        return redirect(address)
    return JsonResponse({"saved": {"client_key": request.POST.get("client_key"), "url": address}})


def _taken_back(undone: Adjudication) -> str:
    """State which decision was undone, and whether the previous decision counts again."""
    # The current decision is first.
    before = _decisions_about(undone.label_round, undone.rater, undone.argument)[0]
    if before.superseded_at is not None:
        return _("Undone: %d. Decide again or continue.") % undone.label
    text = _("Undone: %(last)d. Your previous decision, %(before)d, counts again.")
    return text % {"last": undone.label, "before": before.label}


def _adjudication_page(
    request: StudyRequest, study: Study, label_round: LabelRound
) -> dict[str, Any]:
    """Return the page context, restricted so that others' votes, labels and names stay hidden."""
    rater = Rater.objects.filter(study=study, user=request.user).first()
    undecided_only = request.GET.get("scope") != "mine"
    argument = _wanted(request, label_round)
    if argument is None:
        row = decisions.next_in_queue(
            label_round,
            rater=rater,
            undecided_only=undecided_only,
            skipped=_skipped(request, label_round),
        )
        argument = row.argument if row else None
    job = keep_current(label_round, request.user) if argument is None else None
    # Newest first, including superseded decisions.
    own = Adjudication.objects.filter(label_round=label_round, rater=rater).order_by("-pk")
    own = own.filter(source=Adjudication.Source.QUEUE)
    newest = list(own.values_list("created_at", "superseded_at")[:PACED])
    decided = Paginator(
        own.filter(superseded_at__isnull=True).select_related("argument__comparison"),
        DECISIONS_PER_PAGE,
    ).get_page(request.GET.get("page"))
    left = decisions.queue(label_round, rater=rater, undecided_only=undecided_only).count()
    earlier = _decisions_about(label_round, rater, argument) if argument else []
    return {
        "decision": next(
            (adjudication for adjudication in earlier if adjudication.superseded_at is None), None
        ),
        "last_at": next((at for at, superseded in newest if not superseded), None),
        "queue": _queue(request, study, label_round),
        "ways": {"answers": "#decisions"},
        "job": job if job and job.is_active else None,
        "study": study,
        "round": label_round,
        "argument": argument,
        "segments": _segments(argument),
        "far": TaskProgress(
            decided.paginator.count, left, _pace([at for at, _superseded in newest])
        ),
        "undecided_only": undecided_only,
        "earlier": earlier,
        "decided": decided,
    }


def _arguments(label_round: LabelRound) -> QuerySet[Argument]:
    return Argument.objects.filter(pk__in=label_round.items.values("argument")).select_related(
        "comparison"
    )


def _wanted(request: StudyRequest, label_round: LabelRound) -> Argument | None:
    """Return the sentence given in the form, or otherwise in the address."""
    unit = request.POST.get("argument") or request.GET.get("unit")
    if not unit:
        return None
    return get_object_or_404(_arguments(label_round), public_id=id_from(unit))


def _segments(argument: Argument | None) -> list[Any]:
    if argument is None:
        return []
    comparison = argument.comparison
    return split_sentence(argument.text, comparison.object1, comparison.object2)


def _decisions_about(
    label_round: LabelRound, rater: Rater | None, argument: Argument
) -> list[Adjudication]:
    """Return the person's latest decisions on one sentence, the current one first."""
    rows = Adjudication.objects.filter(label_round=label_round, rater=rater, argument=argument)
    return list(rows.order_by(F("superseded_at").desc(nulls_first=True), "-pk")[:10])


def _pace(times: list[datetime]) -> float | None:
    """Return the seconds between consecutive decisions, excluding pauses."""
    gaps = [(later - earlier).total_seconds() for later, earlier in pairwise(times)]
    return pace([gap for gap in gaps if gap <= LONGEST_PAUSE])


def _session_key(label_round: LabelRound) -> str:
    return f"skipped:{label_round.public_id}"


def _skipped(request: StudyRequest, label_round: LabelRound) -> list[int]:
    return request.session.get(_session_key(label_round), [])


def _queue(request: StudyRequest, study: Study, label_round: LabelRound) -> str:
    address = reverse("adjudication", args=[study.public_id, label_round.public_id])
    mine = request.GET.get("scope") == "mine"
    return f"{address}?scope=mine" if mine else address


adjudication_urls = [
    path("label-rounds/<uuid:label_round_id>/adjudicate/", adjudication, name="adjudication")
]

# Final labels: table, settings and adoptions

LABELS_PER_PAGE = 50
FLAGS = {"tied": "is_tied", "differ": "methods_differ"}


@study_page(*RESEARCHERS)
def final_labels(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """List every argument with its final label and provenance."""
    return _labels_page(request, study, label_round_or_404(study, label_round_id))


@study_page(*RESEARCHERS, only="POST")
def final_labels_settings(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """Change the aggregation method and the rounds whose labels overrule the votes."""
    label_round = label_round_or_404(study, label_round_id)
    form = ConsensusForm(request.POST, instance=label_round)
    if not form.is_valid():
        return _labels_page(request, study, label_round, settings_form=form, status=422)
    consensus.set_consensus(
        label_round=label_round_or_404(study, label_round_id),
        aggregator=form.cleaned_data["aggregator"],
        overridden_by=form.cleaned_data["overridden_by"],
        actor=request.user,
    )
    messages.success(request, _("Saved. The labels are being recomputed."))
    return redirect("final_labels", study.public_id, label_round.public_id)


@study_page(*RESEARCHERS, only="POST")
def final_labels_adopt(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """Preview the adoption of another round's labels as decisions, then adopt them."""
    label_round = label_round_or_404(study, label_round_id)
    form = AdoptForm(request.POST, label_round=label_round)
    if not form.is_valid():
        return _labels_page(request, study, label_round, adopt_form=form, status=422)
    source, rater = form.chosen
    adoption = {
        "label_round": label_round,
        "source": label_round_or_404(study, source),
        "rater": get_object_or_404(study.raters, public_id=rater),
        "only_tied": form.cleaned_data["only_tied"],
    }
    if "confirmed" not in request.POST:
        preview = decisions.preview_adoption(**adoption)
        return _labels_page(request, study, label_round, adopt_form=form, preview=preview)
    decisions.adopt_labels(**adoption, actor=request.user)
    messages.success(request, _("Adopted. The labels are being recomputed."))
    return redirect("final_labels", study.public_id, label_round.public_id)


@study_page(*RESEARCHERS, only="POST")
def final_labels_withdraw(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, adoption_id: uuid.UUID
) -> HttpResponse:
    label_round = label_round_or_404(study, label_round_id)
    row = get_object_or_404(label_round.adoptions.all(), public_id=adoption_id)
    if decisions.withdraw_adoption(adoption=row, actor=request.user):
        messages.success(request, _("Withdrawn. The labels are being recomputed."))
    return redirect("final_labels", study.public_id, label_round.public_id)


@study_page(*RESEARCHERS, only="POST")
def final_labels_recompute(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    label_round = label_round_or_404(study, label_round_id)
    consensus.request_final_labels(label_round=label_round, actor=request.user)
    return redirect("final_labels", study.public_id, label_round.public_id)


@study_page(*RESEARCHERS, only="POST")
def labels_preferred(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """Use this round's final labels in the study, or each sentence's newest label."""
    label_round = label_round_or_404(study, label_round_id)
    chosen = label_round if request.POST.get("use") == "this" else None
    prefer_labels(study=study, label_round=chosen, actor=request.user)
    messages.success(request, _("Saved. Figures computed from other labels are now out of date."))
    return redirect("final_labels", study.public_id, label_round.public_id)


def _labels_page(
    request: StudyRequest,
    study: Study,
    label_round: LabelRound,
    *,
    settings_form: ConsensusForm | None = None,
    adopt_form: AdoptForm | None = None,
    preview: decisions.AdoptionPreview | None = None,
    status: int = 200,
) -> HttpResponse:
    rows, summary = _filtered(label_round, request), _summary(label_round)
    if summary["is_stale"]:
        consensus.keep_current(label_round, request.user)
    adoptions = label_round.adoptions.filter(withdrawn_at__isnull=True)
    context = {
        "study": study,
        "round": label_round,
        "summary": summary,
        "finding": labels_finding(summary["labels"], label_round.guideline),
        "provenances": FinalLabel.Provenance.choices,
        "page": Paginator(rows, LABELS_PER_PAGE).get_page(request.GET.get("page")),
        "job": consensus.active_job(label_round),
        "settings_form": settings_form or ConsensusForm(instance=label_round),
        "adopt_form": adopt_form or AdoptForm(label_round=label_round),
        "preview": preview,
        "adoptions": adoptions.select_related("source", "rater", "created_by"),
        "preferred": label_source(study),
    }
    return render(request, "annotation/consensus/final_labels.html", context, status=status)


def _filtered(label_round: LabelRound, request: StudyRequest) -> QuerySet[FinalLabel]:
    """Return the rows that match the filters; unknown values are ignored."""
    rows = label_round.final_labels.select_related("argument__comparison").order_by("pk")
    if request.GET.get("provenance") in FinalLabel.Provenance.values:
        rows = rows.filter(provenance=request.GET["provenance"])
    if request.GET.get("label", "") in map(str, label_round.guideline.values):
        rows = rows.filter(label=int(request.GET["label"]))
    if request.GET.get("flag") in FLAGS:
        rows = rows.filter(**{FLAGS[request.GET["flag"]]: True})
    return rows


def _summary(label_round: LabelRound) -> dict[str, Any]:
    """Count arguments by provenance and by label, and check whether the labels are out of date."""
    # The tie rule is our choice, so the page states how many labels it decided.
    by_rule = Q(is_tied=True, provenance=FinalLabel.Provenance.VOTES)
    is_majority = label_round.aggregator == LabelRound.Aggregator.MAJORITY
    groups = label_round.final_labels.values_list("provenance", "label").order_by()
    tied = 0
    by_provenance: Counter[str] = Counter()
    by_label: Counter[int | None] = Counter()
    counts = {"count": Count("pk"), "tied": Count("pk", filter=by_rule)}
    for provenance, label, count, ties in groups.annotate(**counts):
        tied += ties if is_majority else 0
        by_provenance[provenance] += count
        by_label[label] += count
    return {
        "labels": by_label,
        "total": by_provenance.total(),
        "tied": tied,
        "provenances": [
            {"name": name, "title": title, "count": by_provenance[name]}
            for name, title in FinalLabel.Provenance.choices
        ],
        "is_stale": consensus.is_stale(label_round),
    }


LABELS = "label-rounds/<uuid:label_round_id>/labels/"
WITHDRAW = f"{LABELS}adoptions/<uuid:adoption_id>/withdraw/"
final_label_urls = [
    path(LABELS, final_labels, name="final_labels"),
    path(f"{LABELS}settings/", final_labels_settings, name="final_labels_settings"),
    path(f"{LABELS}adopt/", final_labels_adopt, name="final_labels_adopt"),
    path(WITHDRAW, final_labels_withdraw, name="final_labels_withdraw"),
    path(f"{LABELS}prefer/", labels_preferred, name="labels_preferred"),
    path(f"{LABELS}recompute/", final_labels_recompute, name="final_labels_recompute"),
]
