"""What workers do with a corpus: look at its file, load the sentences, delete them."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.corpus.models.questions import text_key
from annotation.retrieval.methods.corpus_file import Line, Opened, Skipped, open_sentences
from annotation.retrieval.methods.corpus_query import is_comparative
from annotation.retrieval.models import Corpus, CorpusSentence
from cqa_site.runs.jobs import JobRefused, Work
from cqa_site.tabular import UnreadableFile, preview
from cqa_site.web.uploads import path_of

from .corpora import FOLDER

State = Corpus.State
CHUNK = 2_000
MOST_SHOWN = 8


def check_corpus(work: Work) -> None:
    """The job of a dry run: read the whole file, count, keep the first sentences."""
    corpus = _corpus_of(work)
    found: dict[str, Any] = {}
    try:
        opened = _open(corpus)
        found |= {"columns": opened.columns, "text": opened.text, "url": opened.url}
        found |= _count(opened, work)
    except UnreadableFile as reason:
        _settle(corpus, work, state=State.REFUSED, refusal=str(reason), found=_columns(corpus))
        return
    if not found["sentences"]:
        nothing = _("No row of the file holds a sentence.")
        _settle(corpus, work, state=State.REFUSED, refusal=nothing, found=found)
        return
    _settle(corpus, work, state=State.CHECKED, refusal="", found=found)


def load_corpus(work: Work) -> None:
    """The job that loads: in pieces, so that others can write in between.

    A worker that takes over begins at the start of the file; what is there already stays.
    """
    corpus = _corpus_of(work)
    total = corpus.found["sentences"]
    try:
        lines = (entry for entry in _open(corpus).entries if isinstance(entry, Line))
        for done in _in_pieces(corpus, lines):
            work.progress(done, max(total, done), _("sentences loaded"))
    except UnreadableFile as reason:
        # Nobody changes a stored file; then the disk did.
        raise JobRefused(str(reason)) from None
    count = corpus.sentences.count()
    _settle(corpus, work, state=State.READY, sentence_count=count, stored_as="")
    path_of(FOLDER, corpus.stored_as).unlink(missing_ok=True)


def delete_corpus(work: Work) -> None:
    """The job that deletes, in pieces; whoever takes over goes on."""
    corpus = Corpus.objects.get(study=work.study, public_id=work.payload["corpus"])
    done = 0
    while pks := list(corpus.sentences.order_by("pk").values_list("pk", flat=True)[:CHUNK]):
        corpus.sentences.filter(pk__lte=pks[-1]).delete()
        done += len(pks)
        work.progress(done, max(corpus.sentence_count, done), _("sentences deleted"))
    if corpus.stored_as:
        path_of(FOLDER, corpus.stored_as).unlink(missing_ok=True)
    corpus.delete()


def _corpus_of(work: Work) -> Corpus:
    corpus = Corpus.objects.select_related("study").get(
        study=work.study, public_id=work.payload["corpus"]
    )
    if corpus.deleted_at:
        raise JobRefused(_("The corpus was deleted."))
    return corpus


def _open(corpus: Corpus) -> Opened:
    options = corpus.options
    return open_sentences(
        path_of(FOLDER, corpus.stored_as),
        name=corpus.file_name,
        text=options.get("text", ""),
        url=options.get("url", ""),
        encoding=options.get("encoding") or None,
    )


def _columns(corpus: Corpus) -> dict[str, list[str]]:
    """The columns of a table that was refused, so that a person can choose others."""
    try:
        encoding = corpus.options.get("encoding") or None
        path = path_of(FOLDER, corpus.stored_as)
        return {"columns": preview(path, name=corpus.file_name, encoding=encoding).columns}
    except UnreadableFile:
        return {}


def _count(opened: Opened, work: Work) -> dict[str, Any]:
    """What a look at every row finds."""
    counts: Counter[str] = Counter()
    seen: set[bytes] = set()
    shown: list[dict[str, Any]] = []
    problems: list[dict[str, Any]] = []
    for entry in opened.entries:
        counts["rows"] += 1
        work.progress(counts["rows"], note=_("rows read"))
        if isinstance(entry, Skipped):
            counts[entry.reason] += 1
            problems += [{"row": entry.row, "reason": entry.reason}][: MOST_SHOWN - len(problems)]
            continue
        # Half a million short keys are held at once; two alike by chance would be one too many.
        key = bytes.fromhex(text_key(entry.text)[:24])
        counts["repeated" if key in seen else "sentences"] += 1
        counts["addresses"] += bool(entry.address) and key not in seen
        seen.add(key)
        line = {"row": entry.row, "text": entry.text, "url": entry.address}
        shown += [line][: MOST_SHOWN - len(shown)]
    names = ("rows", "sentences", "repeated", "blank", "too_long", "not_text", "addresses")
    return {name: counts[name] for name in names} | {"first": shown, "problems": problems}


def _in_pieces(corpus: Corpus, lines: Iterator[Line]) -> Iterator[int]:
    """Insert the lines and say after each piece how many of them are through."""
    done = 0
    while piece := list(islice(lines, CHUNK)):
        with transaction.atomic():
            kept = Corpus.objects.select_for_update(no_key=True).filter(
                pk=corpus.pk, deleted_at__isnull=True
            )
            if kept.first() is None:
                raise JobRefused(_("The corpus was deleted."))
            CorpusSentence.objects.bulk_create(
                (_row(corpus, line) for line in piece), ignore_conflicts=True
            )
        done += len(piece)
        yield done


def _row(corpus: Corpus, line: Line) -> CorpusSentence:
    return CorpusSentence(
        corpus=corpus,
        text=line.text,
        text_sha256=text_key(line.text),
        source_url=line.address,
        is_comparative=is_comparative(line.text),
    )


def _settle(corpus: Corpus, work: Work, **changes: Any) -> None:
    """Store a result together with the end of the job."""
    with transaction.atomic():
        changed = Corpus.objects.filter(pk=corpus.pk, deleted_at__isnull=True).update(**changes)
        if not changed:
            raise JobRefused(_("The corpus was deleted."))
        work.finish()
