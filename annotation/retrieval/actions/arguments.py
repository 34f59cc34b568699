"""Search for sentences in corpora or with a CAM service, and add them as arguments."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from django.conf import settings
from django.db import connections, router, transaction
from django.utils.translation import gettext as _

from annotation.corpus.models import Argument, Comparison
from annotation.retrieval.methods.cam import NotACamReply, best, read_reply, request_of
from annotation.retrieval.methods.corpus import Query, fts5_expression, tsquery_expression
from annotation.retrieval.models import (
    ArgumentOrigin,
    CamRequest,
    CamService,
    Corpus,
    CorpusSentence,
)
from cqa_site.judging.chat import Failure
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue
from cqa_site.tabular.cells import text_key

# Sentences in corpora that name both objects, from the full-text index of the database
#
# Comparative sentences come first, then the others, each ranked by the database.

MOST_HITS = 200
# Maximum number of sentences to check if words alone cannot show that both objects are named.
MOST_CHECKED = 500
# Maximum number of matching sentences to rank; the rest are left out.
MOST_RANKED = 10_000
# The lowest bm25 is best; the marks column has no weight.
SQLITE = """
    SELECT id FROM (
        SELECT rowid AS id, bm25(annotation_corpussearch, 1.0, 0.0) AS place
        FROM annotation_corpussearch WHERE annotation_corpussearch MATCH %s LIMIT %s
    ) ORDER BY place, id LIMIT %s
"""
# Names that are close together rank high; 1 divides by the logarithm of the length.
POSTGRESQL = """
    SELECT id FROM (
        SELECT s.id, s.search, wanted
        FROM annotation_corpussentence AS s, to_tsquery('counterpoint_words', %s) AS wanted
        WHERE s.search @@ wanted AND s.corpus_id = ANY(%s) AND s.is_comparative = %s LIMIT %s
    ) AS named ORDER BY ts_rank_cd(search, wanted, 1) DESC, id LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence found by a search; ``key`` is the hash of its text."""

    key: str
    text: str
    address: str
    is_comparative: bool
    corpus: Corpus


def search(corpora: Iterable[Corpus], query: Query, most: int) -> list[Hit]:
    """Return the best sentences, at most 200, with each text only once across corpora."""
    most = min(most, MOST_HITS)
    corpora_by_pk = {corpus.pk: corpus for corpus in corpora}
    hits: dict[str, Hit] = {}
    for is_comparative in (True, False):
        wanted = (most - len(hits)) * len(corpora_by_pk) if query.names is None else MOST_CHECKED
        for row in _rows(_ranked(list(corpora_by_pk), query, is_comparative, wanted)):
            if len(hits) < most and query.accepts(row.text):
                hits.setdefault(row.text_sha256, _hit(row, corpora_by_pk[row.corpus_id]))
    return list(hits.values())


def sentences_of(corpora: Iterable[Corpus], keys: Iterable[str]) -> list[CorpusSentence]:
    """Return the sentences with these keys, in the order of the keys and without duplicates."""
    wanted = list(dict.fromkeys(keys))
    rows = CorpusSentence.objects.filter(corpus__in=list(corpora), text_sha256__in=wanted)
    sentences = {row.text_sha256: row for row in rows.select_related("corpus").order_by("-pk")}
    return [sentences[key] for key in wanted if key in sentences]


def _hit(row: CorpusSentence, corpus: Corpus) -> Hit:
    return Hit(row.text_sha256, row.text, row.source_url, row.is_comparative, corpus)


def _rows(pks: list[int]) -> list[CorpusSentence]:
    """Return the sentences in the order of their keys."""
    sentences = CorpusSentence.objects.in_bulk(pks)
    return [sentences[pk] for pk in pks if pk in sentences]


def _ranked(corpora: list[int], query: Query, is_comparative: bool, wanted: int) -> list[int]:
    """Return the primary keys of sentences that contain all words, best first."""
    if not corpora or wanted < 1:
        return []
    connection = connections[router.db_for_read(CorpusSentence)]
    if connection.vendor == "sqlite":
        statement = SQLITE
        values: tuple = (_with_marks(fts5_expression(query), corpora, is_comparative),)
    else:
        statement = POSTGRESQL
        values = (tsquery_expression(query), corpora, is_comparative)
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, MOST_RANKED, wanted])
        return [pk for (pk,) in cursor.fetchall()]


def _with_marks(expression: str, corpora: list[int], is_comparative: bool) -> str:
    """Use the marks column to restrict the query to the corpora (see migration 0005)."""
    chosen = " OR ".join(f"c{pk}" for pk in corpora)
    compares = "AND marks : k" if is_comparative else "NOT marks : k"
    return f"(text : ({expression}) AND marks : ({chosen})) {compares}"


JOB = "ask_cam"
# CAM reads up to 10,000 sentences before it responds.
DEADLINE = 180.0
MOST_CAM_SENTENCES = 100


class NoService(Exception):
    """The study has no CAM service."""


@transaction.atomic
def set_service(*, study: Study, address: str, actor: User) -> None:
    """Store the address of the study's CAM service; an empty address removes it."""
    before = address_of(study)
    if address == before:
        return
    if address:
        CamService.objects.update_or_create(study=study, defaults={"address": address})
    else:
        CamService.objects.filter(study=study).delete()
    record(study=study, actor=actor, verb="cam_service_changed", subject=address, before=before)


def address_of(study: Study) -> str:
    """Return the address of the study's CAM service, or an empty text."""
    return CamService.objects.filter(study=study).values_list("address", flat=True).first() or ""


@transaction.atomic
def ask(
    *, comparison: Comparison, aspects: Sequence[str], weight: int, most: int, actor: User
) -> CamRequest:
    """Request sentences in the background; raises NoService."""
    address = address_of(comparison.study)
    if not address:
        raise NoService(_("This study has no CAM service."))
    request = CamRequest.objects.create(
        study=comparison.study,
        comparison=comparison,
        address=address,
        aspects=list(aspects),
        weight=weight,
        most=most,
        created_by=actor,
    )
    request.job = enqueue(
        study=comparison.study,
        kind=JOB,
        key=str(request.public_id),
        actor=actor,
        request=str(request.public_id),
    )
    request.save(update_fields=["job"])
    return request


def ask_cam(work: JobContext) -> None:
    """Handle a job: send one request and store the sentences in its reply, best first."""
    from cqa_site.judging.transport.egress import ServiceFailed, get_json, parse_allowed

    request = CamRequest.objects.select_related("comparison").get(
        study=work.study, public_id=work.payload["request"]
    )
    work.progress(0, note=_("The service is searching"))
    url, params = request_of(
        request.address,
        object1=request.comparison.object1,
        object2=request.comparison.object2,
        aspects=request.aspects,
        weight=request.weight,
        most=request.most,
    )
    allowed = parse_allowed(settings.EGRESS_ALLOW)
    try:
        reply = read_reply(get_json(url, params, allowed=allowed, deadline=DEADLINE))
    except ServiceFailed as failure:
        raise JobRefused(in_words(failure.kind, str(failure))) from None
    except NotACamReply as reason:
        raise JobRefused(_("This is not a reply from a CAM service: %s.") % reason) from None
    stored_sentences = [asdict(sentence) for sentence in best(reply.sentences, request.most)]
    with transaction.atomic():
        CamRequest.objects.filter(pk=request.pk).update(found=stored_sentences)
        work.finish()


def in_words(kind: Failure, message: str) -> str:
    """Explain a failure and its remedy to the person who made the request."""
    if kind == Failure.BLOCKED:
        return (
            _(
                "This site may not send requests to this address: %s. The address must be "
                "public and begin with https://, be on this machine, or be listed by the "
                "operator in EGRESS_ALLOW."
            )
            % message
        )
    if kind == Failure.TOO_LARGE:
        return _("The service's reply cannot be used: %s.") % message
    return _("The service failed: %s. Try again, or check its address.") % message


@dataclass(frozen=True, slots=True)
class AddedArguments:
    """Number of sentences added as arguments, and number of those already present."""

    new: int
    same: int


@transaction.atomic
def make_comparison(*, study: Study, object1: str, object2: str, actor: User) -> Comparison:
    """Return the comparison of two objects in this order, creating it if missing."""
    comparison, is_new = Comparison.objects.get_or_create(
        study=study, object1=object1, object2=object2
    )
    if is_new:
        record(study=study, actor=actor, verb="comparison_created", subject=str(comparison))
    return comparison


def take_corpus_sentences(
    *, comparison: Comparison, sentences: Iterable[CorpusSentence], actor: User
) -> AddedArguments:
    """Add corpus sentences to a comparison."""
    rows = [
        (
            Argument(text=sentence.text, source_url=sentence.source_url),
            ArgumentOrigin(kind=ArgumentOrigin.Kind.CORPUS, source=sentence.corpus.name),
        )
        for sentence in sentences
    ]
    return _take(comparison, rows, actor)


def take_cam_sentences(*, asked: CamRequest, places: Iterable[int], actor: User) -> AddedArguments:
    """Add sentences from a reply, selected by position (from 1), to the request's comparison."""
    sentences = asked.found or []
    rows = [
        (
            Argument(
                text=sentence["text"],
                source_url=sentence["address"],
                external_id=sentence["document"],
            ),
            ArgumentOrigin(
                kind=ArgumentOrigin.Kind.CAM,
                source=asked.address,
                favours=sentence["favours"],
                score=sentence["score"],
            ),
        )
        for place, sentence in enumerate(sentences, start=1)
        if place in set(places)
    ]
    return _take(asked.comparison, rows, actor)


def known_keys(comparison: Comparison, keys: Iterable[str]) -> set[str]:
    """Return the keys of texts that are already arguments of the comparison."""
    rows = comparison.arguments.filter(text_sha256__in=set(keys))
    return set(rows.values_list("text_sha256", flat=True))


@transaction.atomic
def _take(
    comparison: Comparison, rows: Sequence[tuple[Argument, ArgumentOrigin]], actor: User
) -> AddedArguments:
    """Store new arguments under a lock, so that concurrent requests count each text only once."""
    Comparison.objects.select_for_update(no_key=True).get(pk=comparison.pk)
    pairs = {text_key(argument.text): (argument, origin) for argument, origin in rows}
    known = known_keys(comparison, pairs)
    fresh = {key: pair for key, pair in pairs.items() if key not in known}
    for key, (argument, origin) in fresh.items():
        argument.study, argument.comparison = comparison.study, comparison
        argument.text_sha256 = key
        origin.added_by = actor
    arguments = [argument for argument, _origin in fresh.values()]
    # Imports do not lock the comparison, so conflicting rows are not an error.
    Argument.objects.bulk_create(arguments, ignore_conflicts=True)
    _add_origins(comparison, fresh)
    if fresh:
        kinds = sorted({origin.source for _argument, origin in fresh.values()})
        record(
            study=comparison.study, actor=actor, verb="arguments_found", subject=str(comparison),
            sources=kinds, new=len(fresh),
        )  # fmt: skip
    return AddedArguments(len(fresh), len(known))


def _add_origins(
    comparison: Comparison, fresh: dict[str, tuple[Argument, ArgumentOrigin]]
) -> None:
    written = comparison.arguments.filter(text_sha256__in=fresh)
    for key, pk in written.values_list("text_sha256", "pk"):
        fresh[key][1].argument_id = pk
    origins = [origin for _argument, origin in fresh.values()]
    ArgumentOrigin.objects.bulk_create(origins, ignore_conflicts=True)
