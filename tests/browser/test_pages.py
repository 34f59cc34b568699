"""Every page a role may open, wide and narrow, light and dark: sound, quiet and accessible.

The addresses come from the access matrix, so a new page is looked at as soon
as the matrix knows it. One site with one of everything serves the module.
"""

import shutil
from datetime import timedelta

import pytest
from allauth.account.forms import default_token_generator
from django.db import transaction
from django.test import override_settings
from django.urls import path, reverse
from django.utils import timezone
from django.utils.http import int_to_base36
from pytest_django.live_server_helper import LiveServer

from argsum.leaderboard.actions import KEY_POINTS
from benchmark.leaderboard.actions import BOARDS
from cqa_site import urls
from cqa_site.files.actions.files import store_upload
from cqa_site.home import pages as home
from cqa_site.people.actions import create_invitation
from cqa_site.people.models import User
from cqa_site.results import snapshots
from cqa_site.rounds.crowd.participants import PlatformIds, create_link, take_part
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.models import Participant
from tests.annotation.made_generations import make_generation
from tests.annotation.retrieval.made_retrieval import make_corpus
from tests.cast import make_label_round
from tests.everything import make_everything
from tests.runs.judging import good
from tests.runs.made_runs import make_run
from tests.security.matrix import STUDY_ROUTES
from tests.security.test_matrix import OF_THE_ANNOTATOR, ROLES, World
from .conftest import COLOURS, EVERY_RULE, NAMES, PLACES, OwnFile, Visitor

# One process makes the site.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("pages")]

# The design page exists in debug mode only; its address is added for this module.
urlpatterns = [*urls.urlpatterns, path("design/", home.design, name="design")]

# GET, but no whole page: files, pictures and pieces that a page fetches for itself.
PIECES = {
    "analysis_said", "analysis_state", "board_figure", "board_file", "scores_fragment",
    "snapshot_figure", "comments_export", "dataset_export", "edited_texts_figure",
    "expert_agreement_figure", "quality_figure", "export_download", "export_list",
    "export_manifest", "faithfulness_figure", "figures_fragment", "score_watch", "scorer_figure",
    "generation_figures", "generation_launch_progress", "import_problems", "import_sample",
    "job_progress", "packages_state", "encoders_state", "analysis_audit_figure",
    "label_trial_next", "key_point_board_figure", "onboarding_survey", "round_survey",
    "key_point_board_file", "key_points_figure", "crowd_pay_figure",
    "round_controls_figure",
    # Without the name of a metric there is none.
    "summary_metric", "summary_metrics_figure", "summary_people_figure", "summary_set_figure",
    "summary_set_file", "analysis_groups_figure", "analysis_trends_figure",
    "analysis_report_file", "system_run_figure", "system_run_state", "judges_card",
    "judges_figure", "judges_fragment",
    # Without a rater there is nothing to compare with.
    "label_compare_figure", "label_next", "preferences_figure", "rubric_json", "study_search",
    "study_waiting", "run_progress", "score_agreement_figure", "trained_judge_card",
}  # fmt: skip
TABLE = b"object1,object2,text\ntea,coffee,Tea wins.\ntea,coffee,Coffee wins.\n"
REFUSED = {"no such page": 404, "another role's page": 403, "a full round": 410}
# Admins see the researchers' pages as researchers do, but for these.
OTHERWISE_FOR_ADMINS = {"study", "members"}
NARROW, HEIGHT = 320, 900
# `make test` opens one page in twenty; `tests.web.markup` reads every page of the study.
ONE_IN = 20
SIZES = [
    pytest.param(1280, NAMES, id="made narrow, names and places"),
    pytest.param(1280, EVERY_RULE, marks=pytest.mark.long, id="wide, every rule"),
    pytest.param(NARROW, EVERY_RULE, marks=pytest.mark.long, id="narrow, every rule"),
]
WHO = [*ROLES, "site", "crowd", "ended", "nobody"]
# Researchers see by far the most: their pages are looked at in parts, beside each other.
PARTS = {"r": 4}
VISITS = [(who, part) for who in WHO for part in range(PARTS.get(who, 1))]


def site_pages(*names):
    return {name: reverse(name) for name in names}


class FullSite(World):
    """The matrix's study, with real files and the people who come from outside."""

    def __init__(self):
        super().__init__(make_everything("Everything"))
        study, boss = self.study, self.people["d"]
        file = store_upload(study=study, kind="table", name="x.csv", chunks=[TABLE], actor=boss)
        self.ids["file_id"] = file.public_id
        self.large = make_label_round(study, ordinary=24, controls=0, name="Large")
        self.waiting = make_run(self.large, self.endpoint, boss, lambda request: good(2))
        self.again = make_run(self.large, self.endpoint, boss, preflight="off", reuse=False)
        self.checked = make_corpus(study, name="Checked", state="checked")
        self.rewriting = make_generation(study, self.endpoint, boss, number=3, replicates=2)
        self.people["site"] = User.objects.create_superuser("root@site.example", "a long password")
        roomy = make_label_round(study, ordinary=8, controls=1, name="Roomy")
        open_round(round_=roomy, actor=boss)
        ends = {"completed_code": "DONE", "expires_at": timezone.now() + timedelta(days=1)}
        self.link, self.link_secret = create_link(round_=self.open, actor=boss, **ends)
        self.roomy_secret = create_link(round_=roomy, actor=boss, **ends)[1]
        self.people["crowd"] = self.take_part("P1").user
        ended = self.take_part("P2")
        Participant.objects.filter(pk=ended.pk).update(outcome="completed")
        self.people |= {"ended": ended.user, "nobody": None}
        self.public, self.public_key_points = (
            self.published(of, number)
            for of, number in ((BOARDS, self.board.number), (KEY_POINTS, 1))
        )
        _invitation, self.invitation_secret = create_invitation(
            study=study, role="expert", note="x", days=1, actor=boss
        )

    def published(self, of, number):
        which = {"owner": self.study, "number": number, "actor": self.people["d"]}
        snapshots.freeze(of, note="For readers", **which)
        return snapshots.publish(of, **which)

    def take_part(self, name):
        return take_part(link=self.link, ids=PlatformIds(name, "S", "T"), browser="browser")

    def pages(self, who):
        """Name and address of every page of a person."""
        if who in ROLES:
            return self.study_pages(who) | site_pages("account")
        return getattr(self, f"pages_of_{who}")()

    def study_pages(self, role):
        """Pages of the study for a role of the matrix."""
        names = [name for name, route in STUDY_ROUTES.items() if role in route.roles]
        hidden = PIECES | {name for name in names if STUDY_ROUTES[name].post}
        if role == "e":
            hidden |= set(OF_THE_ANNOTATOR)
        if role == "d":
            hidden |= {
                name for name in names if "r" in STUDY_ROUTES[name].roles
            } - OTHERWISE_FOR_ADMINS
        pages = {n: reverse(n, kwargs=self.kwargs(n)) for n in names if n not in hidden}
        return pages | (self.more_of_runs() if role == "r" else {})

    def more_of_runs(self):
        """Pages of runs that look otherwise with other content."""
        prose = self.study.runs.get(kind="analysis_prose")

        def at(name, *ids, query=""):
            return (
                reverse(name, args=[self.study.public_id, *(each.public_id for each in ids)])
                + query
            )

        def two(one, other):
            return f"?a={one.number}&b={other.number}"

        return {
            "a run that waits": at("run", self.waiting),
            "requests of one state": at("run_calls", self.waiting, query="?state=done"),
            "two runs compared": at(
                "run_compare", self.large, query=two(self.waiting, self.again)
            ),
            "a run over citations": at("run", self.judging),
            "figures as in the paper": at("faithfulness", query="?mode=paper"),
            "a summary in prose": at("run", prose),
            "a run of answers": at("run", self.writing),
            "a run that scores": at("run", self.scoring),
            "a corpus looked at": at("corpus", self.checked),
            "answers compared": at("generation_compare", query=two(self.writing, self.rewriting)),
        }

    def pages_of_site(self):
        nowhere = {
            "no such page": "/nowhere/",
            "a page about papers": reverse("help_page", args=["papers/deviations"]),
            "search in the help": reverse("help") + "?q=alpha",
        }
        site = ("home", "study_new", "design", "site_state", "site_backups")
        own = ("account", "account_change_password", "mfa_index", "account_reauthenticate")
        return site_pages(*site, *own) | nowhere

    def pages_of_crowd(self):
        place = [self.study.public_id, self.open.public_id]
        label = {"label": reverse("label", args=place)}
        refused = {"another role's page": reverse("label_rounds", args=place[:1])}
        return site_pages("account", "participation_end") | label | refused

    def pages_of_ended(self):
        return site_pages("participation_end")

    def pages_of_nobody(self):
        member = self.people["a"]
        key = (int_to_base36(member.pk), default_token_generator.make_token(member))
        ids = "?PROLIFIC_PID=P3&STUDY_ID=S&SESSION_ID=T"
        return site_pages(
            "account_login",
            "account_inactive",
            "account_reset_password",
            "account_reset_password_done",
            "account_reset_password_from_key_done",
        ) | {
            "new password": reverse("account_reset_password_from_key", args=key),
            "invitation": reverse("invitation", args=[self.invitation_secret]),
            "join": reverse("join", args=[self.roomy_secret]) + ids,
            "a full round": reverse("join", args=[self.link_secret]) + ids,
            "a public board": reverse("public_board", args=[self.public.public_token]),
            "public key points": reverse(
                "public_key_points", args=[self.public_key_points.public_token]
            ),
        }


@pytest.fixture(scope="module")
def site(empty_file, tmp_path_factory, django_db_blocker):
    """Address and content of a running site that all tests of the module only read."""
    folder = tmp_path_factory.mktemp("pages")
    file = folder / "site.sqlite3"
    shutil.copy(empty_file, file)
    changed = override_settings(ROOT_URLCONF=__name__, MEDIA_ROOT=folder / "media")
    with django_db_blocker.unblock(), OwnFile(file), changed:
        with transaction.atomic():
            content = FullSite()
        live = LiveServer("127.0.0.1")
        content.url = live.url
        yield content
        live.stop()


def faults_of(visitor, name, address, rules):
    """Return the faults of a page: as it was opened, dark, and made narrow."""
    page = visitor.page
    reply = page.goto(visitor.server + address)
    expected = REFUSED.get(name, 200)
    faults = [f"status {reply.status}"] if reply.status != expected else []
    if not page.locator("main h1").count():
        faults.append("no heading")
    if expected != 200:  # the browser itself notes a refusal
        visitor.console = [line for line in visitor.console if str(expected) not in line]
    wide = page.viewport_size
    faults += visitor.colours()
    if rules == EVERY_RULE:
        faults += visitor.axe(without=COLOURS)
    if wide["width"] > NARROW:
        page.emulate_media(color_scheme="dark")
        faults += [f"dark: {fault}" for fault in visitor.colours()]
        page.emulate_media(color_scheme="light")
        # A page that is there already saves opening it, and its checker, once more.
        page.set_viewport_size({"width": NARROW, "height": HEIGHT})
        more = () if rules == EVERY_RULE else rules
        faults += [f"narrow: {fault}" for fault in visitor.axe([*PLACES, *more])]
    if not visitor.has_no_sideways_scroll():
        faults.append("wider than the screen")
    page.set_viewport_size(wide)
    faults += visitor.console + visitor.foreign
    visitor.console.clear()
    visitor.foreign.clear()
    return [f"{name}: {fault}" for fault in faults]


@pytest.mark.parametrize(("width", "rules"), SIZES)
@pytest.mark.parametrize(("who", "part"), VISITS)
def test_every_page(browser, site, who, part, width, rules):
    # Without movement nothing is caught between two colours.
    looks = {"color_scheme": "light", "reduced_motion": "reduce"}
    size = {"width": width, "height": HEIGHT}
    visitor = Visitor(browser, site.url, site.people[who], viewport=size, **looks)
    pages = list(site.pages(who).items())[part :: PARTS.get(who, 1)]
    step = 1 if rules == EVERY_RULE else ONE_IN
    found = [fault for page in pages[::step] for fault in faults_of(visitor, *page, rules)]
    visitor.context.close()
    assert not found, "\n".join(found)


def test_a_text_that_looks_like_no_other_is_looked_at(browser, site):
    """In the page's own colours, in others, and on another ground further up."""
    visitor = Visitor(browser, site.url, site.people["r"], reduced_motion="reduce")
    page = visitor.go("study", site.study.public_id)
    assert visitor.colours() == []
    for place in ("main h1", "main"):
        for style in ("color: #999", "background: #444"):
            page.locator(place).first.evaluate("(each, style) => { each.style = style }", style)
            assert visitor.colours(), (place, style)
            page.locator(place).first.evaluate("each => { each.style = '' }")
    assert visitor.colours() == []
    visitor.context.close()
