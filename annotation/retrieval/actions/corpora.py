"""Corpora of sentences: uploaded, sent to be looked at and loaded, deleted."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.retrieval.models import Corpus
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import enqueue
from cqa_site.tabular import printable_name
from cqa_site.web.uploads import path_of, write_upload

State = Corpus.State
FOLDER = "corpora"
CHECK_JOB = "check_corpus"
LOAD_JOB = "load_corpus"
DELETE_JOB = "delete_corpus"


class NameTaken(Exception):
    """Another corpus of the study has this name."""


class CorpusBusy(Exception):
    """The corpus is being worked on, or is loaded already."""


def add_corpus(
    *, study: Study, name: str, file_name: str, chunks: Iterable[bytes], actor: User | None
) -> Corpus:
    """Store an upload and ask for a look at it; raises TooLarge and NameTaken."""
    stored = write_upload(FOLDER, chunks)
    try:
        with transaction.atomic():
            corpus = Corpus.objects.create(
                study=study,
                name=name,
                file_name=printable_name(file_name),
                sha256=stored.sha256,
                size=stored.size,
                stored_as=stored.stored_as,
                created_by=actor,
            )
            _enqueue(corpus, CHECK_JOB, actor)
    except BaseException as error:
        path_of(FOLDER, stored.stored_as).unlink(missing_ok=True)
        if isinstance(error, IntegrityError):
            raise NameTaken(_("There is a corpus of this name already.")) from error
        raise
    return corpus


@transaction.atomic
def request_check(*, corpus: Corpus, options: dict[str, str], actor: User | None) -> None:
    """Look at the file again, with other columns; raises CorpusBusy."""
    _move(corpus, State.CHECKING, {State.CHECKED, State.REFUSED}, actor, options=options)
    _enqueue(corpus, CHECK_JOB, actor)


@transaction.atomic
def request_load(*, corpus: Corpus, actor: User | None) -> None:
    """Put the sentences into the table in the background; raises CorpusBusy."""
    _move(corpus, State.LOADING, {State.CHECKED}, actor)
    _enqueue(corpus, LOAD_JOB, actor)


@transaction.atomic
def request_deletion(*, corpus: Corpus, actor: User | None) -> None:
    """Take a corpus out of sight at once, and out of the database in the background."""
    gone = Corpus.objects.filter(pk=corpus.pk, deleted_at__isnull=True)
    if gone.update(deleted_at=timezone.now()) != 1:
        raise CorpusBusy(_("Somebody else deleted it just now."))
    record(study=corpus.study, actor=actor, verb="corpus_deleted", subject=corpus.name)
    _enqueue(corpus, DELETE_JOB, actor)


def is_stranded(corpus: Corpus) -> bool:
    """Whether the record says that somebody works on it although nobody does."""
    working = corpus.state in (State.CHECKING, State.LOADING)
    return working and not (corpus.job and corpus.job.is_active)


def stored_names() -> Iterable[str]:
    """What rows know of the files in the folder."""
    return Corpus.objects.values_list("stored_as", flat=True)


def discard_old_corpora() -> int:
    """Delete uploads that were never loaded and that nobody looked at for some weeks."""
    oldest = timezone.now() - timedelta(days=settings.EXPORT_RETENTION_DAYS)
    untouched = Q(job__isnull=True) | Q(job__finished_at__lt=oldest)
    waiting = Corpus.objects.filter(
        untouched,
        created_at__lt=oldest,
        state__in=(State.CHECKED, State.REFUSED),
        deleted_at__isnull=True,
    )
    found = list(waiting.select_related("study"))
    for corpus in found:
        request_deletion(corpus=corpus, actor=None)
    return len(found)


def _move(
    corpus: Corpus, state: str, allowed: set[str], actor: User | None, **changes: Any
) -> None:
    """Set the state if it is one of those allowed, or the same one whose job broke off."""
    if is_stranded(corpus):
        allowed = allowed | {state}
    found = Corpus.objects.filter(pk=corpus.pk, state__in=allowed, deleted_at__isnull=True)
    if found.update(state=state, refusal="", **changes) != 1:
        raise CorpusBusy(_("This corpus is being worked on, or it is loaded already."))


def _enqueue(corpus: Corpus, kind: str, actor: User | None) -> None:
    job = enqueue(
        study=corpus.study,
        kind=kind,
        key=str(corpus.public_id),
        actor=actor,
        corpus=str(corpus.public_id),
    )
    Corpus.objects.filter(pk=corpus.pk).update(job=job)
