"""Asking a CAM service for sentences, in the background; the study keeps its address."""

from collections.abc import Sequence
from dataclasses import asdict

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.corpus.models.questions import Comparison
from annotation.retrieval.methods.cam_replies import NotACamReply, best, read_reply
from annotation.retrieval.methods.cam_requests import request_of
from annotation.retrieval.models import CamRequest, CamService
from cqa_site.judging.chat import Failure
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobRefused, Work, enqueue

JOB = "ask_cam"
# CAM reads up to ten thousand sentences before it answers.
DEADLINE = 180.0
MOST = 100


class NoService(Exception):
    """The study names no CAM service."""


@transaction.atomic
def set_service(*, study: Study, address: str, actor: User) -> None:
    """Keep the address of the study's CAM service; an empty one removes it."""
    before = address_of(study)
    if address == before:
        return
    if address:
        CamService.objects.update_or_create(study=study, defaults={"address": address})
    else:
        CamService.objects.filter(study=study).delete()
    record(study=study, actor=actor, verb="cam_service_changed", subject=address, before=before)


def address_of(study: Study) -> str:
    """The address of the study's CAM service; empty if it has none."""
    return CamService.objects.filter(study=study).values_list("address", flat=True).first() or ""


@transaction.atomic
def ask(
    *, comparison: Comparison, aspects: Sequence[str], weight: int, most: int, actor: User
) -> CamRequest:
    """Ask in the background; raises NoService."""
    address = address_of(comparison.study)
    if not address:
        raise NoService(_("This study names no CAM service."))
    asked = CamRequest.objects.create(
        study=comparison.study,
        comparison=comparison,
        address=address,
        aspects=list(aspects),
        weight=weight,
        most=most,
        created_by=actor,
    )
    asked.job = enqueue(
        study=comparison.study,
        kind=JOB,
        key=str(asked.public_id),
        actor=actor,
        request=str(asked.public_id),
    )
    asked.save(update_fields=["job"])
    return asked


def ask_cam(work: Work) -> None:
    """The job: one request, and what its reply holds, best first."""
    from cqa_site.judging.transport.egress import parse_allowed
    from cqa_site.judging.transport.json_service import ServiceFailed, get_json

    asked = CamRequest.objects.select_related("comparison").get(
        study=work.study, public_id=work.payload["request"]
    )
    work.progress(0, note=_("The service is searching"))
    url, params = request_of(
        asked.address,
        object1=asked.comparison.object1,
        object2=asked.comparison.object2,
        aspects=asked.aspects,
        weight=asked.weight,
        most=asked.most,
    )
    allowed = parse_allowed(settings.EGRESS_ALLOW)
    try:
        reply = read_reply(get_json(url, params, allowed=allowed, deadline=DEADLINE))
    except ServiceFailed as failure:
        raise JobRefused(in_words(failure.kind, str(failure))) from None
    except NotACamReply as reason:
        raise JobRefused(_("This is no reply of a CAM service: %s.") % reason) from None
    found = [asdict(sentence) for sentence in best(reply.sentences, asked.most)]
    with transaction.atomic():
        CamRequest.objects.filter(pk=asked.pk).update(found=found)
        work.finish()


def in_words(kind: Failure, message: str) -> str:
    """A failure for the person who asked, with what to do about it."""
    if kind == Failure.BLOCKED:
        return (
            _(
                "This site may not ask that address: %s. It has to be public and begin with "
                "https://, or the operator has to list it in EGRESS_ALLOW."
            )
            % message
        )
    if kind == Failure.TOO_LARGE:
        return _("The service's answer cannot be taken: %s.") % message
    return _("The service did not help: %s. Ask again, or check its address.") % message
