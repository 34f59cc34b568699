"""Corpora from the upload to the search, and their pages."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext, override_settings
from django.urls import reverse
from django.utils import timezone

from annotation.corpus.models import Argument
from annotation.retrieval.actions import corpora as actions
from annotation.retrieval.models import ArgumentOrigin, Corpus, CorpusSentence
from cqa_site.files.actions import exports
from cqa_site.people.models import AuditEvent
from cqa_site.runs import jobs
from cqa_site.runs.jobs import JobRefused
from cqa_site.runs.models import Job
from cqa_site.tabular.cells import text_key
from tests import cast
from tests.annotation.retrieval.made_retrieval import SENTENCES, make_corpus

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files_apart")]
LINES = "Tea is cheaper than coffee.\n\nTea  is cheaper than coffee.\nCoffee and tea.\n"


@pytest.fixture
def stored(settings):
    """Names of the files that lie on disk."""
    folder = settings.MEDIA_ROOT / "corpora"
    return lambda: list(folder.iterdir()) if folder.is_dir() else []


def address(name, study, *rows):
    return reverse(name, args=[study.public_id, *(row.public_id for row in rows)])


def upload(client, study, content=LINES, name="Forum", file="forum.txt"):
    body = content if isinstance(content, bytes) else content.encode()
    given = {"name": name, "file": SimpleUploadedFile(file, body)}
    return client.post(address("corpus_upload", study), given)


def checked(client, study, inline, *args, **options):
    with inline():
        assert upload(client, study, *args, **options).status_code == 302
    return study.corpora.latest("pk")


@pytest.fixture
def press(client, inline):
    """Press a button of a corpus and let the work be done; returns its state."""

    def press(name, corpus, **body):
        with inline():
            assert client.post(address(name, corpus.study, corpus), body).status_code == 302
        corpus.refresh_from_db()
        return corpus.state

    return press


def text_of(client, url):
    response = client.get(url)
    assert response.status_code == 200
    return response.text


def test_from_an_empty_page_to_a_search(client, study, inline, stored, press):
    assert "No corpora yet" in text_of(client, address("corpora", study))
    # Uploads above the limit are refused.
    for limit in (50, -1024 * 1024):
        with override_settings(MAX_UPLOAD_BYTES=limit):
            response = upload(client, study, "x" * 51)
        assert response.status_code == 413
    with override_settings(MAX_UPLOAD_BYTES=50):
        assert "Split this file" in upload(client, study, "x" * 51).text
    assert (stored(), study.corpora.count()) == ([], 0)
    corpus = checked(client, study, inline)
    assert corpus.state == "checked"
    counted = ("rows", "sentences", "repeated", "blank", "too_long", "not_text", "addresses")
    assert [corpus.found[name] for name in counted] == [4, 2, 1, 1, 0, 0, 0]
    assert corpus.found["first"][0] == {"row": 1, "text": "Tea is cheaper than coffee.", "url": ""}
    assert CorpusSentence.objects.count() == 0
    assert len(stored()) == 1
    page = text_of(client, address("corpus", study, corpus))
    assert "Ready to load" in page
    assert "2 sentences can be searched" in page
    # A look that stopped can be repeated, but not skipped.
    Corpus.objects.filter(pk=corpus.pk).update(state="checking")
    page = text_of(client, address("corpus", study, corpus))
    assert "Processing of this file stopped" in page
    assert press("corpus_load", corpus) == "checking"
    assert press("corpus_check", corpus) == "checked"
    assert press("corpus_load", corpus) == "ready"
    assert (corpus.sentence_count, corpus.stored_as) == (2, "")
    rows = corpus.sentences.order_by("pk").values_list("text", "is_comparative")
    assert list(rows) == [("Tea is cheaper than coffee.", True), ("Coffee and tea.", False)]
    assert stored() == []
    comparison = cast.make_arguments(study, 1)[0].comparison
    page = text_of(client, address("find_arguments", study, comparison))
    assert "2 sentences" in page
    assert "Add all 2" in page


def test_a_file_that_cannot_be_taken_says_why_and_another_encoding_can_be_named(
    client, study, inline, press
):
    corpus = checked(client, study, inline, b"\n \n")
    assert corpus.state == "refused"
    assert corpus.refusal == "No row in the file has a sentence."
    assert "The file was rejected" in text_of(client, address("corpus", study, corpus))
    assert press("corpus_load", corpus) == "refused"
    corpus = checked(client, study, inline, "Café und Tee.\n".encode("latin-1"), "Tee")
    assert corpus.state == "refused"
    press("corpus_check", corpus, encoding="latin-1")
    assert corpus.found["first"][0]["text"] == "Café und Tee."


def test_loading_goes_in_pieces_and_can_begin_again(client, study, inline, press, monkeypatch):
    monkeypatch.setattr(actions, "CHUNK", 3)
    lines = "".join(f"Tea beats coffee in point {n}.\n" for n in range(10))
    corpus = checked(client, study, inline, lines)
    work = broken_off(corpus, monkeypatch, after=2)
    corpus.refresh_from_db()
    assert (corpus.state, corpus.sentences.count()) == ("loading", 6)
    assert actions.is_stranded(corpus)
    assert "Continue loading" in text_of(client, address("corpus", study, corpus))
    assert (press("corpus_load", corpus), corpus.sentence_count) == ("ready", 10)
    assert work.job.state == "failed"
    # So does deleting.
    kept = make_corpus(study, name="Kept", texts=SENTENCES)
    actions.request_deletion(corpus=corpus, actor=None)
    jobs.drain()
    assert list(Corpus.objects.all()) == [kept]
    assert CorpusSentence.objects.count() == len(SENTENCES)


def broken_off(corpus, monkeypatch, *, after):
    """A load whose worker fails after some pieces."""
    actions.request_load(corpus=corpus, actor=None)
    pieces = actions._in_pieces

    def some(corpus, lines):
        for number, done in enumerate(pieces(corpus, lines), start=1):
            yield done
            if number == after:
                raise OSError("the disk is gone")

    monkeypatch.setattr(actions, "_in_pieces", some)
    jobs.drain()
    monkeypatch.setattr(actions, "_in_pieces", pieces)
    return jobs.JobContext(Job.objects.select_related("study").latest("pk"))


def test_a_deleted_corpus_is_gone_at_once_and_its_arguments_stay(client, study, comparison):
    corpus = make_corpus(study, texts=["Coffee and tea."])
    keys = [text_key("Coffee and tea.")]
    client.post(address("find_take", study, comparison), {"chosen": keys})
    response = client.post(address("corpus_delete", study, corpus), follow=True)
    assert "was deleted" in response.content.decode()
    assert client.get(address("corpus", study, corpus)).status_code == 404
    assert "No corpora yet" in text_of(client, address("corpora", study))
    assert "No corpora to search" in text_of(client, address("find_arguments", study, comparison))
    jobs.drain()
    assert not Corpus.objects.exists()
    assert not CorpusSentence.objects.exists()
    origin = ArgumentOrigin.objects.get()
    assert (origin.kind, origin.source) == ("corpus", "Forum")
    assert AuditEvent.objects.filter(study=study, verb="corpus_deleted").count() == 1


def test_a_corpus_that_was_deleted_is_not_loaded(client, study, inline, stored):
    corpus = checked(client, study, inline)
    actions.request_load(corpus=corpus, actor=None)
    actions.request_deletion(corpus=corpus, actor=None)
    with pytest.raises(actions.CorpusBusy):
        actions.request_deletion(corpus=corpus, actor=None)
    # Nor is one that is deleted meanwhile.
    with pytest.raises(JobRefused):
        list(actions._in_pieces(corpus, iter([actions.CorpusLine(1, "Tea.", "")])))
    jobs.drain()
    assert not Corpus.objects.exists()
    assert not CorpusSentence.objects.exists()
    assert stored() == []
    kinds = (("check_corpus", "done"), ("load_corpus", "failed"), ("delete_corpus", "done"))
    assert set(Job.objects.values_list("kind", "state")) == set(kinds)


def test_uploads_that_nobody_loaded_are_given_up(
    client, study, inline, settings, stored, monkeypatch
):
    corpus = checked(client, study, inline)
    # Files that no corpus knows are swept.
    (kept,) = stored()
    (kept.parent / "stray").write_text("x")
    with monkeypatch.context() as soon:
        soon.setattr(exports, "LEFTOVER_SECONDS", -1)
        assert exports.remove_leftovers() == 1
    assert stored() == [kept]
    ready = make_corpus(study, name="Ready")
    long_ago = timezone.now() - timezone.timedelta(days=settings.EXPORT_RETENTION_DAYS + 1)
    assert actions.discard_old_corpora() == 0
    Corpus.objects.update(created_at=long_ago)
    assert actions.discard_old_corpora() == 0
    Job.objects.update(finished_at=long_ago)
    assert actions.discard_old_corpora() == 1
    jobs.drain()
    assert list(Corpus.objects.all()) == [ready]
    assert not Corpus.objects.filter(pk=corpus.pk).exists()
    assert stored() == []


def test_chosen_sentences_become_arguments_once(client, study, comparison):
    make_corpus(study)
    url = address("find_arguments", study, comparison)
    page = text_of(client, url + "?aspect=&words=any")
    keys = re.findall(r'name="chosen" value="([0-9a-f]{64})"', page)
    assert len(keys) == 3
    take = address("find_take", study, comparison)
    response = client.post(take + "?words=any", {"chosen": keys[:2]}, follow=True)
    assert response.redirect_chain[0][0].endswith("/find/?words=any")
    assert "2 new arguments." in response.text
    assert response.text.count("Already an argument") == 2
    everything = {"everything": "1", "all": keys, "chosen": keys[:1]}
    response = client.post(take, everything, follow=True)
    assert "1 new argument. Already in the study: 2." in response.text
    assert comparison.arguments.count() == 4
    argument = comparison.arguments.get(text=SENTENCES[0])
    assert argument.source_url == "https://forum.example/0"
    assert (argument.study, argument.origin.source) == (study, "Forum")
    assert argument.origin.added_by is not None
    assert AuditEvent.objects.filter(verb="arguments_found").count() == 2
    page = text_of(client, address("argument", study, argument))
    assert "Found in: Corpus Forum" in page
    # One corpus can be searched alone.
    two = make_corpus(study, name="Two", texts=["Coffee is darker than tea."])
    page = text_of(client, f"{url}?corpus={two.public_id}")
    assert "is darker than" in page
    assert "is cheaper than" not in page
    foreign = make_corpus(cast.make_study("Study B"))
    for corpus in (foreign.public_id, "x"):
        assert client.get(url, {"corpus": corpus}).status_code == 422


def test_nothing_chosen_is_said_and_sentences_of_other_studies_cannot_be_taken(
    client, study, comparison
):
    make_corpus(study)
    url = address("find_take", study, comparison)
    for chosen in ([], ["x"], ["\x00" * 64], ["f" * 64], ["F" * 64], ["1"]):
        response = client.post(url, {"chosen": chosen}, follow=True)
        assert "Choose at least one sentence." in response.text
    make_corpus(cast.make_study("Study B"), texts=["Their tea beats coffee."])
    Corpus.objects.filter(study=study).update(deleted_at=timezone.now())
    client.post(url, {"chosen": [text_key("Their tea beats coffee."), text_key(SENTENCES[0])]})
    assert Argument.objects.count() == 1
    page = text_of(client, address("find_arguments", study, comparison))
    assert "No corpora to search" in page


def test_two_objects_make_a_comparison_once(client, study):
    url = reverse("find_start", args=[study.public_id])
    for _ in range(2):
        response = client.post(url, {"object1": " rain ", "object2": "snow"})
        made = study.comparisons.get()
        assert response.url == address("find_arguments", study, made)
    assert str(made) == "rain vs snow"
    assert client.post(url, {"object1": "rain", "object2": "rain"}).status_code == 422
    assert "rain vs snow" in text_of(client, url + "?q=SNO")
    assert "No comparison has this object" in text_of(client, url + "?q=fog")
    assert AuditEvent.objects.filter(verb="comparison_created").count() == 1


def test_pages_cost_few_queries_however_much_there_is(client, study, comparison):
    make_corpus(study)
    urls = [address("corpora", study), address("find_start", study)]
    urls.append(address("find_arguments", study, comparison))
    before = [cost(client, url) for url in urls]
    for number in range(20):
        make_corpus(study, name=f"Corpus {number}", texts=[f"Tea beats coffee, {number}."])
        cast.make_arguments(study, 2, pair=(f"tea {number}", "coffee"))
    after = [cost(client, url) for url in urls]
    assert after == before
    assert max(after) <= 14


def cost(client, url):
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return len(queries)
