"""Upload, check, loading and deletion of corpora."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.retrieval.methods.corpus import (
    CorpusFile,
    CorpusLine,
    SkippedRow,
    is_comparative,
    open_sentences,
)
from annotation.retrieval.models import Corpus, CorpusSentence
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, JobRefused, enqueue
from cqa_site.tabular import UnreadableFile, preview, printable_name
from cqa_site.tabular.cells import text_key
from cqa_site.web.uploads import path_of, write_upload

State = Corpus.State
FOLDER = Corpus.STORED_IN
CHECK_JOB = "check_corpus"
LOAD_JOB = "load_corpus"
DELETE_JOB = "delete_corpus"


class NameTaken(Exception):
    """Another corpus in the study has this name."""


class CorpusBusy(Exception):
    """The corpus is being processed or is already loaded."""


def add_corpus(
    *, study: Study, name: str, file_name: str, chunks: Iterable[bytes], actor: User | None
) -> Corpus:
    """Store an upload and request its check; raises TooLarge and NameTaken."""
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
            raise NameTaken(_("A corpus with this name already exists.")) from error
        raise
    return corpus


@transaction.atomic
def request_check(*, corpus: Corpus, options: dict[str, str], actor: User | None) -> None:
    """Check the file again with other columns; raises CorpusBusy."""
    _move(corpus, State.CHECKING, {State.CHECKED, State.REFUSED}, options=options)
    _enqueue(corpus, CHECK_JOB, actor)


@transaction.atomic
def request_load(*, corpus: Corpus, actor: User | None) -> None:
    """Load the sentences into the table in the background; raises CorpusBusy."""
    _move(corpus, State.LOADING, {State.CHECKED})
    _enqueue(corpus, LOAD_JOB, actor)


@transaction.atomic
def request_deletion(*, corpus: Corpus, actor: User | None) -> None:
    """Hide a corpus immediately, and delete it from the database in the background."""
    gone = Corpus.objects.filter(pk=corpus.pk, deleted_at__isnull=True)
    if gone.update(deleted_at=timezone.now()) != 1:
        raise CorpusBusy(_("Someone else has just deleted this corpus."))
    record(study=corpus.study, actor=actor, verb="corpus_deleted", subject=corpus.name)
    _enqueue(corpus, DELETE_JOB, actor)


def is_stranded(corpus: Corpus) -> bool:
    """Whether the corpus is marked as being processed but has no active job."""
    working = corpus.state in (State.CHECKING, State.LOADING)
    return working and not (corpus.job and corpus.job.is_active)


def stored_names() -> Iterable[str]:
    """Return the names of stored files that database rows refer to."""
    return Corpus.objects.values_list("stored_as", flat=True)


def discard_old_corpora() -> int:
    """Delete uploads that were not loaded within the retention period; return their number."""
    oldest = timezone.now() - timedelta(days=settings.EXPORT_RETENTION_DAYS)
    untouched = Q(job__isnull=True) | Q(job__finished_at__lt=oldest)
    waiting = Corpus.objects.filter(
        untouched,
        created_at__lt=oldest,
        state__in=(State.CHECKED, State.REFUSED),
        deleted_at__isnull=True,
    )
    stored_corpora = list(waiting.select_related("study"))
    for corpus in stored_corpora:
        request_deletion(corpus=corpus, actor=None)
    return len(stored_corpora)


def _move(corpus: Corpus, state: str, allowed: set[str], **changes: Any) -> None:
    """Set the state if the current state allows it or the corpus's job stopped unexpectedly."""
    if is_stranded(corpus):
        allowed = allowed | {state}
    stored_corpora = Corpus.objects.filter(
        pk=corpus.pk, state__in=allowed, deleted_at__isnull=True
    )
    if stored_corpora.update(state=state, refusal="", **changes) != 1:
        raise CorpusBusy(_("This corpus is being processed or is already loaded."))


def _enqueue(corpus: Corpus, kind: str, actor: User | None) -> None:
    job = enqueue(
        study=corpus.study,
        kind=kind,
        key=str(corpus.public_id),
        actor=actor,
        corpus=str(corpus.public_id),
    )
    Corpus.objects.filter(pk=corpus.pk).update(job=job)


CHUNK = 2_000
MOST_SHOWN = 8


def check_corpus(work: JobContext) -> None:
    """Handle a dry run: read the whole file, count its rows, and store the first sentences."""
    corpus = _corpus_of(work)
    findings: dict[str, Any] = {}
    try:
        opened = _open(corpus)
        findings |= {"columns": opened.columns, "text": opened.text, "url": opened.url}
        findings |= _count(opened, work)
    except UnreadableFile as reason:
        _settle(corpus, work, state=State.REFUSED, refusal=str(reason), found=_columns(corpus))
        return
    if not findings["sentences"]:
        nothing = _("No row in the file has a sentence.")
        _settle(corpus, work, state=State.REFUSED, refusal=nothing, found=findings)
        return
    _settle(corpus, work, state=State.CHECKED, refusal="", found=findings)


def load_corpus(work: JobContext) -> None:
    """Handle a loading job in batches, so that other processes can write in between.

    A worker that takes over starts at the beginning of the file, but keeps the rows already
    loaded.
    """
    corpus = _corpus_of(work)
    total = corpus.found["sentences"]
    try:
        lines = (entry for entry in _open(corpus).entries if isinstance(entry, CorpusLine))
        for done in _in_pieces(corpus, lines):
            work.progress(done, max(total, done), _("sentences loaded"))
    except UnreadableFile as reason:
        # Stored files never change, so this is a storage failure.
        raise JobRefused(str(reason)) from None
    count = corpus.sentences.count()
    _settle(corpus, work, state=State.READY, sentence_count=count, stored_as="")
    path_of(FOLDER, corpus.stored_as).unlink(missing_ok=True)


def delete_corpus(work: JobContext) -> None:
    """Handle a deletion job in batches; another worker can continue it."""
    corpus = Corpus.objects.get(study=work.study, public_id=work.payload["corpus"])
    done = 0
    while pks := list(corpus.sentences.order_by("pk").values_list("pk", flat=True)[:CHUNK]):
        corpus.sentences.filter(pk__lte=pks[-1]).delete()
        done += len(pks)
        work.progress(done, max(corpus.sentence_count, done), _("sentences deleted"))
    if corpus.stored_as:
        path_of(FOLDER, corpus.stored_as).unlink(missing_ok=True)
    corpus.delete()


def _corpus_of(work: JobContext) -> Corpus:
    corpus = Corpus.objects.select_related("study").get(
        study=work.study, public_id=work.payload["corpus"]
    )
    if corpus.deleted_at:
        raise JobRefused(_("The corpus was deleted."))
    return corpus


def _open(corpus: Corpus) -> CorpusFile:
    options = corpus.options
    return open_sentences(
        path_of(FOLDER, corpus.stored_as),
        name=corpus.file_name,
        text=options.get("text", ""),
        url=options.get("url", ""),
        encoding=options.get("encoding") or None,
    )


def _columns(corpus: Corpus) -> dict[str, list[str]]:
    """Return the columns of a rejected table, so that a person can choose other columns."""
    try:
        encoding = corpus.options.get("encoding") or None
        path = path_of(FOLDER, corpus.stored_as)
        return {"columns": preview(path, name=corpus.file_name, encoding=encoding).columns}
    except UnreadableFile:
        return {}


def _count(opened: CorpusFile, work: JobContext) -> dict[str, Any]:
    """Check every row and return the counts."""
    counts: Counter[str] = Counter()
    seen: set[bytes] = set()
    lines: list[dict[str, Any]] = []
    problems: list[dict[str, Any]] = []
    for entry in opened.entries:
        counts["rows"] += 1
        work.progress(counts["rows"], note=_("rows read"))
        if isinstance(entry, SkippedRow):
            counts[entry.reason] += 1
            problems += [{"row": entry.row, "reason": entry.reason}][: MOST_SHOWN - len(problems)]
            continue
        # Half a million short keys are in memory at once, and none of them may collide.
        key = bytes.fromhex(text_key(entry.text)[:24])
        counts["repeated" if key in seen else "sentences"] += 1
        counts["addresses"] += bool(entry.address) and key not in seen
        seen.add(key)
        line = {"row": entry.row, "text": entry.text, "url": entry.address}
        lines += [line][: MOST_SHOWN - len(lines)]
    names = ("rows", "sentences", "repeated", "blank", "too_long", "not_text", "addresses")
    return {name: counts[name] for name in names} | {"first": lines, "problems": problems}


def _in_pieces(corpus: Corpus, lines: Iterator[CorpusLine]) -> Iterator[int]:
    """Insert the lines, and yield the number of processed lines after each batch."""
    done = 0
    while piece := list(islice(lines, CHUNK)):
        with transaction.atomic():
            rows = Corpus.objects.select_for_update(no_key=True).filter(
                pk=corpus.pk, deleted_at__isnull=True
            )
            if rows.first() is None:
                raise JobRefused(_("The corpus was deleted."))
            CorpusSentence.objects.bulk_create(
                (_row(corpus, line) for line in piece), ignore_conflicts=True
            )
        done += len(piece)
        yield done


def _row(corpus: Corpus, line: CorpusLine) -> CorpusSentence:
    return CorpusSentence(
        corpus=corpus,
        text=line.text,
        text_sha256=text_key(line.text),
        source_url=line.address,
        is_comparative=is_comparative(line.text),
    )


def _settle(corpus: Corpus, work: JobContext, **changes: Any) -> None:
    """Store a result together with the end of the job."""
    with transaction.atomic():
        changed = Corpus.objects.filter(pk=corpus.pk, deleted_at__isnull=True).update(**changes)
        if not changed:
            raise JobRefused(_("The corpus was deleted."))
        work.finish()
