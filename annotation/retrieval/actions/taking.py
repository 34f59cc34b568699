"""Found sentences become arguments of a comparison, each once, with where they came from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.corpus.models.questions import Argument, Comparison, text_key
from annotation.retrieval.models import ArgumentOrigin, CamRequest, CorpusSentence
from cqa_site.people.access import record
from cqa_site.people.models import Study, User


@dataclass(frozen=True, slots=True)
class Taken:
    """How many sentences became arguments, and how many had been there before."""

    new: int
    same: int


@transaction.atomic
def make_comparison(*, study: Study, object1: str, object2: str, actor: User) -> Comparison:
    """The comparison of two objects in this order; made if the study has none."""
    comparison, is_new = Comparison.objects.get_or_create(
        study=study, object1=object1, object2=object2
    )
    if is_new:
        record(study=study, actor=actor, verb="comparison_created", subject=str(comparison))
    return comparison


def take_corpus_sentences(
    *, comparison: Comparison, sentences: Iterable[CorpusSentence], actor: User
) -> Taken:
    """Add sentences of corpora to a comparison."""
    rows = [
        (
            Argument(text=sentence.text, source_url=sentence.source_url),
            ArgumentOrigin(kind=ArgumentOrigin.Kind.CORPUS, source=sentence.corpus.name),
        )
        for sentence in sentences
    ]
    return _take(comparison, rows, actor)


def take_cam_sentences(*, asked: CamRequest, places: Iterable[int], actor: User) -> Taken:
    """Add sentences of a reply, by their places in it from 1, to its comparison."""
    found = asked.found or []
    rows = [
        (
            Argument(text=one["text"], source_url=one["address"], external_id=one["document"]),
            ArgumentOrigin(
                kind=ArgumentOrigin.Kind.CAM,
                source=asked.address,
                favours=one["favours"],
                score=one["score"],
            ),
        )
        for place, one in enumerate(found, start=1)
        if place in set(places)
    ]
    return _take(asked.comparison, rows, actor)


def known_keys(comparison: Comparison, keys: Iterable[str]) -> set[str]:
    """Those of the keys whose texts are arguments of the comparison."""
    rows = comparison.arguments.filter(text_sha256__in=set(keys))
    return set(rows.values_list("text_sha256", flat=True))


@transaction.atomic
def _take(
    comparison: Comparison, rows: Sequence[tuple[Argument, ArgumentOrigin]], actor: User
) -> Taken:
    """Write what is new under a lock, so that two people at once count it once."""
    Comparison.objects.select_for_update(no_key=True).get(pk=comparison.pk)
    found = {text_key(argument.text): (argument, origin) for argument, origin in rows}
    known = known_keys(comparison, found)
    fresh = {key: pair for key, pair in found.items() if key not in known}
    for key, (argument, origin) in fresh.items():
        argument.study, argument.comparison = comparison.study, comparison
        argument.text_sha256 = key
        origin.added_by = actor
    arguments = [argument for argument, _origin in fresh.values()]
    # An import takes no lock on the comparison; what it writes in between is no fault.
    Argument.objects.bulk_create(arguments, ignore_conflicts=True)
    _add_origins(comparison, fresh)
    if fresh:
        kinds = sorted({origin.source for _argument, origin in fresh.values()})
        record(
            study=comparison.study, actor=actor, verb="arguments_found", subject=str(comparison),
            sources=kinds, new=len(fresh),
        )  # fmt: skip
    return Taken(len(fresh), len(known))


def _add_origins(
    comparison: Comparison, fresh: dict[str, tuple[Argument, ArgumentOrigin]]
) -> None:
    written = comparison.arguments.filter(text_sha256__in=fresh)
    for key, pk in written.values_list("text_sha256", "pk"):
        fresh[key][1].argument_id = pk
    origins = [origin for _argument, origin in fresh.values()]
    ArgumentOrigin.objects.bulk_create(origins, ignore_conflicts=True)
