"""Every address × every role × own and foreign study, generated from the URL table.

The table of expected access is tests/security/matrix.py. Ids of two studies
are mixed in every address that has two: the answer must equal that of an id
which does not exist.
"""

import re
import uuid
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.utils import timezone

from annotation.consensus.actions import consensus
from annotation.consensus.models import Adoption
from annotation.editing.models import KeptText
from annotation.exports.models import ExportFile
from annotation.figures.actions import CAMPAIGNS
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.labelling.actions import answering, serving
from argsum.leaderboard.actions import KEY_POINTS
from argsum.leaderboard.reports.choice import board_choice
from benchmark.leaderboard.actions import BOARDS
from benchmark.scoring.models.sheets import KeptScore
from cqa_site.files.actions.files import store_upload
from cqa_site.files.models import ImportBatch, ImportFile
from cqa_site.people.models import Invitation, Rater, hash_secret
from cqa_site.results import keeping
from cqa_site.rounds.crowd.participants import PlatformIds, take_part
from cqa_site.rounds.models import ParticipantLink
from cqa_site.rounds.opening import open_round
from cqa_site.rounds.serving import next_sheet
from cqa_site.runs.models import Job
from tests.annotation.editing_cast import make_round
from tests.annotation.faithfulness.made_faithfulness import (
    compute,
    hand_in,
    make_closed_round,
    make_coherence,
)
from tests.annotation.made_answers import make_answer, make_list, make_question
from tests.annotation.made_generations import make_generation, make_launch
from tests.annotation.retrieval.made_retrieval import make_cam_request, make_corpus
from tests.argsum.made_cells import make_argsum, make_comments
from tests.benchmark.made_judges import make_scoring_run
from tests.benchmark.made_rounds import make_round as make_scoring_round
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_preferences import make_pairs_round
from tests.cast import make_campaign, make_member, make_study, sign_in
from tests.runs.made_runs import make_endpoint, make_prompt, make_run

from .matrix import SITE_ROUTES, STUDY_ROUTES

pytestmark = pytest.mark.django_db

ROLES = {"a": "annotator", "e": "expert", "r": "researcher", "d": "admin"}
NOT_IDS = {"study_id", "number", "revision", "format", "name", "figure", "operation", "part"}
UNDEFINED = {"value": None, "low": None, "high": None, "reason": "there are no ratings"}
UNDEFINED |= {"statistic": "alpha", "recipe": "none", "n_items": 0, "n_pairable_items": 0}
UNDEFINED |= {"n_raters": 0, "n_values": 0}
# An export that is not written yet has no file, and an empty POST names no sentence to skip.
LACKING = {
    # Nobody is named to compare with.
    "label_compare_figure",
    "export_download",
    "export_manifest",
    "adjudication_skip",
    # No training ran, so there is no curve.
    "scorer_figure",
    # No group of its comments is large enough.
    "analysis_groups_figure",
    # Its run has one setting.
    "system_run_figure",
    # One set is judged there, by one person, and no metric is named.
    "summary_metric",
}
# The sheet of the annotator is not that of the expert.
OF_THE_ANNOTATOR = {
    "count_form",
    "count_save",
    "count_settle",
    "count_submit",
    "prefer_form",
    "prefer_save",
    "prefer_settle",
    "prefer_submit",
    "score_form",
    "score_save",
    "score_settle",
    "score_submit",
}
KEPT_BY_BROWSERS = {
    "study_waiting",
    "exclusion_figure",
    "snapshot_figure",
    "judges_figure",
    "faithfulness_figure",
    "score_agreement_figure",
    "summary_set_figure",
    "analysis_trends_figure",
    "key_points_figure",
}
# Formats and names are not ids; one valid value each.
FIXED = {
    "study_api_address": {"operation": "me"},
    "board_figure": {"figure": "board", "format": "csv"},
    "board_file": {"name": "manifest.json"},
    "import_group": {"number": 0},
    "import_sample": {"name": "table"},
    "import_sample_take": {"name": "table"},
    "preferences_figure": {"figure": "verdicts", "format": "csv"},
    "snapshot_figure": {"figure": "labels", "format": "svg"},
    "judges_figure": {"figure": "judges", "format": "svg"},
    "faithfulness_figure": {"figure": "coherence", "format": "svg"},
    "edited_texts_figure": {"figure": "changes", "format": "csv"},
    "expert_agreement_figure": {"figure": "work", "format": "csv"},
    "exclusion_figure": {"figure": "figures", "format": "svg"},
    "label_compare_figure": {"figure": "sets", "format": "csv"},
    "score_agreement_figure": {"figure": "judges", "format": "svg"},
    "scorer_figure": {"figure": "curve", "format": "svg"},
    "system_run_figure": {"figure": "curve", "format": "svg"},
    "summary_set_figure": {"figure": "prevalence", "format": "svg"},
    "analysis_groups_figure": {"figure": "groups", "format": "csv"},
    "analysis_trends_figure": {"figure": "periods", "format": "svg"},
    "analysis_report_file": {"name": "report.html"},
    "key_points_figure": {"figure": "weighted", "format": "svg"},
    "key_point_board_figure": {"figure": "key-points", "format": "csv"},
    "key_point_board_file": {"name": "manifest.json"},
    "summary_metrics_figure": {"figure": "correlations", "format": "csv"},
    "summary_people_figure": {"figure": "raters", "format": "csv"},
    "summary_set_file": {"format": "csv"},
    "analysis_undo": {"revision": 1},
}


def walk(patterns=None, known=frozenset()):
    """Yield (name, parameters) of every address."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        params = known | set(entry.pattern.converters)
        if isinstance(entry, URLPattern):
            yield entry.name, params
        else:
            yield from walk(entry.url_patterns, params)


# Of two addresses with one name, the first.
PARAMETERS = dict(reversed(list(walk())))


def parameters(name):
    return PARAMETERS[name]


SAID = b"comment,site\nThe queue is long.,North\n"


class World:
    """One study with one of everything, and a member per role."""

    def __init__(self, name):
        self.study = make_study(name)
        self.people = {letter: make_member(self.study, role) for letter, role in ROLES.items()}
        boss = self.people["d"]
        self.open = make_campaign(self.study, name=f"Open {name}")
        open_round(round_=self.open, actor=boss)
        self.open.refresh_from_db()
        self.draft = make_campaign(self.study, name=f"Draft {name}")
        self.rater = self.label_something()
        self.snapshot = keeping.refresh(CAMPAIGNS, self.open)
        consensus.recompute_final_labels(self.open)
        item = self.open.items.filter(control_label__isnull=False).first()
        job = Job.objects.create(study=self.study, kind="none", key=name, state="done")
        batch = ImportBatch.objects.create(study=self.study, kind="table")
        file = ImportFile.objects.create(
            batch=batch,
            study=self.study,
            kind="table",
            name="x.csv",
            sha256="0" * 64,
            size=1,
            stored_as="none",
        )
        export = ExportFile.objects.create(
            campaign=self.open, snapshot=self.snapshot, content="votes", format="csv"
        )
        soon = timezone.now() + timedelta(days=1)
        invitation = Invitation.objects.create(
            study=self.study, role="expert", secret_hash=hash_secret(name), created_by=boss,
            expires_at=soon,
        )  # fmt: skip
        link = ParticipantLink.objects.create(
            study=self.study, round=self.open, created_by=boss,
            secret_hash=hash_secret("l" + name), expires_at=soon,
        )  # fmt: skip
        ids = PlatformIds("PID-" + name)
        person = take_part(link=link, ids=ids, browser="browser").user
        adopted = Adoption.objects.create(
            campaign=self.open, source=self.draft, rater=self.rater, withdrawn_at=timezone.now()
        )
        self.endpoint = make_endpoint(self.study, boss)
        self.run = make_run(self.open, self.endpoint, boss)
        self.ids = {
            "study_id": self.study.public_id,
            "campaign_id": self.open.public_id,
            "any_round_id": self.open.public_id,
            "argument_id": item.argument.public_id,
            "rater_id": self.rater.public_id,
            "adoption_id": adopted.public_id,
            "exclusion_id": self.open.exclusions.create(below=0).public_id,
            "user_id": self.people["a"].public_id,
            "person_id": person.public_id,
            "job_id": job.public_id,
            "part": "language",
            "file_id": file.public_id,
            "batch_id": batch.public_id,
            "export_id": export.public_id,
            "invitation_id": invitation.public_id,
            "link_id": link.public_id,
            "endpoint_id": self.endpoint.public_id,
            "prompt_id": make_prompt(self.study, boss).public_id,
            "run_id": self.run.public_id,
            "call_id": self.run.calls.first().public_id,
        }
        question = make_question(self.study)
        answer = make_answer(question, listed=make_list(question))
        self.ids |= {
            "question_id": question.public_id,
            "answer_id": answer.public_id,
            "system_id": answer.system.public_id,
        }
        edited = make_round(self.study, people=[self.people["e"]], individual=0)
        sheet = edited.sheets.get()
        conflict = KeptText.objects.create(sheet=sheet, base_version=0, content={"text": "x"})
        self.ids |= {
            "round_id": edited.public_id,
            "task_id": sheet.public_id,
            "conflict_id": conflict.public_id,
        }
        self.draft_round = make_round(
            self.study, people=[self.people["e"]], individual=0, is_open=False, leave="nothing"
        )
        self.writing = make_generation(self.study, self.endpoint, boss)
        launch = make_launch(self.study, [self.endpoint], boss)
        self.ids["launch_id"] = launch.public_id
        corpus = make_corpus(self.study)
        asked = make_cam_request(item.argument.comparison, boss)
        self.ids |= {
            "comparison_id": asked.comparison.public_id,
            "corpus_id": corpus.public_id,
            "request_id": asked.public_id,
        }
        self.keep_faith(boss)
        self.scoring = make_scoring_run(self.study, self.endpoint, boss)
        self.score_something(boss)
        self.summarize_something()
        self.prefer_something(boss)
        self.ids["rubric_id"] = self.scoring.scoring.rubric.public_id
        self.board = keeping.refresh(BOARDS, self.scoring.scoring.rubric)
        self.judged = ImportFile.objects.create(
            study=self.study, kind="judged", name="x.json", sha256="0" * 64, size=1, stored_as="no"
        )
        self.listed = ImportFile.objects.create(
            study=self.study,
            kind="argument_list",
            name="x.csv",
            sha256="1" * 64,
            size=1,
            stored_as="no",
        )
        self.said = store_upload(
            study=self.study, kind="comments", name="x.csv", chunks=[SAID], actor=boss
        )
        self.counted = ImportFile.objects.create(
            study=self.study, kind="count_sheets", name="x.csv", sha256="0" * 64, size=1,
            stored_as="none"
        )  # fmt: skip
        self.trained = self.train_something()
        self.numbers = {
            **{name: self.board.number for name in STUDY_ROUTES if name.startswith("board")},
            **{name: 1 for name in STUDY_ROUTES if name.startswith("key_point_board")},
            "guideline": self.open.guideline.number,
            "trained_judge": self.trained.number,
            "trained_judge_card": self.trained.number,
        }

    def label_something(self):
        place = serving.member_place(
            campaign=self.open, membership=self.people["a"].memberships.get()
        )
        for row in serving.next_work(campaign=self.open, place=place).assignments:
            given = answering.Answer(client_key=uuid.uuid4().hex, label=2)
            answering.answer(rater=place.rater, assignment=row, given=given)
        return place.rater

    def keep_faith(self, boss):
        """The expert's version of the answer, figures of both, verdicts on their citations."""
        self.closed = make_closed_round(self.study, [self.people["e"]], boss)
        revision = hand_in(self.closed.sheets.get(), "Tea is warm and cheap [1].")
        compute(self.study)
        self.judging = make_coherence(self.study, self.endpoint, boss, target={"texts": "both"})
        self.ids["revision_id"] = revision.public_id

    def score_something(self, boss):
        """A round in which the annotator has begun a sheet, and a draft of another one."""
        self.scoring_round = make_scoring_round(self.study, boss)
        self.scoring_draft = make_scoring_round(self.study, boss, opens=False, name="Draft")
        rater = serving.rater_for(membership=self.people["a"].memberships.get())
        sheet = next_sheet(round_=self.scoring_round, rater=rater).sheet
        kept = KeptScore.objects.create(sheet=sheet, base_version=0, content={"points": {"C1": 1}})
        self.ids |= {"sheet_id": sheet.public_id, "kept_id": kept.public_id}

    def prefer_something(self, boss):
        """A round over two systems' answers in which the annotator has begun a sheet."""
        make_scored_answers(self.study, questions=4)
        plan = {"systems": tuple(self.study.systems.filter(name__in=("Alpha", "Beta"))), "size": 2}
        self.preferring = make_pairs_round(self.study, boss, **plan)
        self.preferring_draft = make_pairs_round(
            self.study, boss, opens=False, name="Draft", **plan
        )
        rater = serving.rater_for(membership=self.people["a"].memberships.get())
        sheet = next_sheet(round_=self.preferring, rater=rater).sheet
        kept = sheet.kept.create(base_version=0, content={"verdict": "tie"})
        self.ids |= {
            "preference_id": self.preferring.public_id,
            "pair_sheet_id": sheet.public_id,
            "kept_pair_id": kept.public_id,
        }

    def summarize_something(self):
        """Debate arguments, sets of key points, and a count that the annotator has begun."""
        rater = serving.rater_for(membership=self.people["a"].memberships.get())
        self.argsum = make_argsum(self.study, rater)
        self.commented = make_comments(self.study)
        keeping.refresh(KEY_POINTS, board_choice(self.study, {}))
        self.stored_scores = ImportFile.objects.create(
            study=self.study,
            kind="metric_scores",
            name="x.json",
            sha256="1" * 64,
            size=1,
            stored_as="no",
        )
        self.qualities = ImportFile.objects.create(
            study=self.study,
            kind="rated_arguments",
            name="rated.csv",
            sha256="4" * 64,
            size=1,
            stored_as="no",
        )
        self.key_points = ImportFile.objects.create(
            study=self.study,
            kind="system_points",
            name="theirs.csv",
            sha256="3" * 64,
            size=1,
            stored_as="no",
        )
        self.ids |= {
            "dataset_id": self.argsum.dataset.public_id,
            "cell_id": self.argsum.cell.public_id,
            "scorer_id": self.argsum.scorer.public_id,
            "system_run_id": self.argsum.system_run.public_id,
            "set_id": self.argsum.summary_set.public_id,
            "counting_id": self.argsum.counting_round.public_id,
            "count_id": self.argsum.count_sheet.public_id,
            "kept_count_id": self.argsum.kept_count.public_id,
            "analysis_id": self.argsum.analysis.public_id,
            "point_id": self.argsum.found_point.public_id,
            "statement_id": self.argsum.placed.public_id,
        }

    def train_something(self):
        """A version of the trained judge with a label for every argument, written directly."""
        rater = Rater.objects.create(study=self.study, kind="classifier", name="Trained judge")
        version = TrainedJudge.objects.create(campaign=self.open, rater=rater, number=1)
        counts = {"n": 0, "pairs": 0, "folds": 0, "predicted": 0, "per_label": []}
        counts |= {"exact": None, "bias": None}
        version.figures = counts | {"ordinal": UNDEFINED, "interval": UNDEFINED}
        version.save()
        for item in self.open.items.select_related("argument"):
            JudgeLabel.objects.create(
                campaign=self.open,
                argument=item.argument,
                trained=version,
                label=2,
                is_out_of_fold=True,
            )
        return version

    def kwargs(self, name):
        values = self.ids | {"number": self.numbers.get(name, self.snapshot.number)}
        if name in ("campaign_edit", "campaign_items", "campaign_control"):
            values["campaign_id"] = self.draft.public_id
            first = self.draft.items.order_by("pk").first()
            values["argument_id"] = first.argument.public_id
        if name == "editing_round_edit":
            values["round_id"] = self.draft_round.public_id
        if name == "generation_figures":
            values["run_id"] = self.writing.public_id
        if name == "import_scores":
            values["file_id"] = self.judged.public_id
        if name == "import_summary_scores":
            values["file_id"] = self.stored_scores.public_id
        if name == "import_key_points":
            values["file_id"] = self.key_points.public_id
        if name == "import_qualities":
            values["file_id"] = self.qualities.public_id
        if name == "count_sheet":
            values["count_id"] = self.argsum.imported_count.public_id
        if name == "import_counts":
            values["file_id"] = self.counted.public_id
        if name == "import_arguments":
            values["file_id"] = self.listed.public_id
        if name == "import_comments":
            values["file_id"] = self.said.public_id
        if name in ("cell_comments", "comments_export"):
            values["cell_id"] = self.commented.public_id
            values["dataset_id"] = self.commented.dataset.public_id
        if name == "coherence_verdicts":
            values["run_id"] = self.judging.public_id
        if name.startswith(("score", "scoring_r")):
            values["round_id"] = self.scoring_round.public_id
        if name in ("scoring_round_edit", "scoring_examples", "scoring_example"):
            values["round_id"] = self.scoring_draft.public_id
        if name == "preference_round_edit":
            values["preference_id"] = self.preferring_draft.public_id
        if name.startswith("scoring_run_"):
            values["run_id"] = self.scoring.public_id
        if name == "score_sheet":
            values["sheet_id"] = self.scoring.score_sheets.first().public_id
        if name.startswith("expert_agreement"):
            values["round_id"] = self.closed.public_id
        values |= FIXED.get(name, {})
        return {key: values[key] for key in parameters(name)}


@pytest.fixture(scope="module")
def worlds(django_db_setup, django_db_blocker):
    """Two studies for the whole module; each test's own changes are rolled back on top."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield World("Own"), World("Foreign")
        transaction.set_rollback(True)


@pytest.fixture
def own(worlds):
    return worlds[0]


@pytest.fixture
def foreign(worlds):
    return worlds[1]


def ask(client, route, url):
    return client.post(url) if route.post else client.get(url)


def test_every_address_is_in_the_table():
    from tests.api.routes import ROUTES as api_routes

    names = {name for name, _params in walk()} - {"schema", "api_unknown"}
    api = {name for name in names if name.startswith("api_")}
    assert names - api == set(STUDY_ROUTES) | set(SITE_ROUTES)
    assert api == {f"api_{route.name}" for route in api_routes} | {"api_me", "api_studies"}


@pytest.fixture
def visitors(own):
    """Everybody of the own study, signed in."""
    return {letter: sign_in(person) for letter, person in own.people.items()}


def test_roles_in_the_own_study(own, visitors, alone):
    for name, route in STUDY_ROUTES.items():
        url = reverse(name, kwargs=own.kwargs(name))
        for letter, client in visitors.items():
            with alone(f"{name}, {ROLES[letter]}"):
                assert_role(name, letter, ask(client, route, url))


def assert_role(name, letter, response):
    route, status = STUDY_ROUTES[name], response.status_code
    if letter not in route.roles:
        assert status == 403
        return
    assert status < 500
    assert status != 403
    assert status != 404 or name in LACKING or (name in OF_THE_ANNOTATOR and letter == "e")
    if not route.post and letter == route.roles[0]:
        policy = response["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response["X-Content-Type-Options"] == "nosniff"
        assert "no-store" in response["Cache-Control"] or name in KEPT_BY_BROWSERS


def test_anonymous_visitors_are_asked_to_sign_in(own, alone):
    for name, route in STUDY_ROUTES.items():
        with alone(name):
            response = ask(Client(), route, reverse(name, kwargs=own.kwargs(name)))
            assert response.status_code == 302
            assert response["Location"].startswith("/accounts/login/")


def in_turn(at):
    """One role, by the place of the address."""
    return [list(ROLES)[at % len(ROLES)]]


def everybody(_at):
    return list(ROLES)


@pytest.mark.parametrize("letters", [in_turn, pytest.param(everybody, marks=pytest.mark.long)])
def test_a_foreign_study_does_not_exist(own, foreign, visitors, alone, letters):
    """Whose study it is is asked before anybody's role is."""
    nowhere = reverse("study", kwargs={"study_id": uuid.uuid4()})
    nothing = {each: without_tokens(client.get(nowhere)) for each, client in visitors.items()}
    for at, (name, route) in enumerate(STUDY_ROUTES.items()):
        url = reverse(name, kwargs=foreign.kwargs(name))
        for letter in letters(at):
            with alone(f"{name}, {ROLES[letter]}"):
                theirs = ask(visitors[letter], route, url)
                assert theirs.status_code == 404
                assert without_tokens(theirs) == nothing[letter]


def without_tokens(response):
    return re.sub(rb'(value|X-CSRFToken)[^>]{0,12}"[A-Za-z0-9]{32,64}"', b"", response.content)


MIXED = sorted((name, param) for name in STUDY_ROUTES for param in parameters(name) - NOT_IDS)


def test_ids_of_another_study_do_not_exist(own, foreign, visitors, alone):
    for name, param in MIXED:
        route, kwargs = STUDY_ROUTES[name], own.kwargs(name)
        mixed = reverse(name, kwargs=kwargs | {param: foreign.kwargs(name)[param]})
        nowhere = reverse(name, kwargs=kwargs | {param: uuid.uuid4()})
        for letter in route.roles:
            with alone(f"{name}, {param}, {ROLES[letter]}"):
                theirs = ask(visitors[letter], route, mixed)
                if name == "label_answer" and theirs.status_code == 422:
                    assert ask(visitors[letter], route, nowhere).status_code == 422
                else:
                    assert theirs.status_code == 404


def test_unsafe_requests_need_the_form_token(own, visitors, alone):
    for name, route in STUDY_ROUTES.items():
        for letter in route.roles:
            client = Client(enforce_csrf_checks=True)
            client.cookies = visitors[letter].cookies
            with alone(f"{name}, {ROLES[letter]}"):
                response = client.post(reverse(name, kwargs=own.kwargs(name)))
                assert response.status_code in (403, 405)


def test_anonymous_visitors_outside_studies(alone):
    values = {
        "token_id": uuid.uuid4(), "token": uuid.uuid4(), "name": "scenarios",
        "figure": "board", "format": "svg", "secret": "no-such-secret", "uidb36": "1",
        "key": "no-key", "page": "papers/deviations", "job_id": uuid.uuid4(),
        "provider_id": "no-provider", "pk": 1, "account_id": 1,
    }  # fmt: skip
    for name, expected in SITE_ROUTES.items():
        params = parameters(name) or ({"uidb36", "key"} if name.endswith("from_key") else set())
        with alone(name):
            response = Client().get(reverse(name, kwargs={key: values[key] for key in params}))
            if expected == "in":
                assert response.status_code in (302, 405)
                assert response.status_code == 405 or "/accounts/login/" in response["Location"]
            else:
                assert response.status_code == int(expected)
