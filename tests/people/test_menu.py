"""The menu of a study, its search box, and the tour that leads through it."""

import re

import pytest
from django.urls import get_resolver, reverse

from annotation.answers.models import System
from annotation.corpus.models import Comparison, Question
from cqa_site.web.navigation import ANY_STUDY, GROUPS, MOST_SHOWN, entries, entry_at, inside, paths
from tests.cast import make_member, sign_in
from tests.security.matrix import STUDY_ROUTES

pytestmark = pytest.mark.django_db

# Where people work, alone with what they work on.
WORK = re.compile(r"^(label|desk|score|count|prefer)(_|$)")
# Pages of all kinds of runs and rounds say at which list they stand.
NEXT = re.compile(r'<a class="button small primary" href="([^"]+\?tour=1)">Next</a>')
BACK = re.compile(r'<a class="button small" href="([^"]+\?tour=1)">Back</a>')
SAY_IT_THEMSELVES = {
    *("run", "crowd_links", "crowd_pay", "crowd_pay_figure", "crowd_submissions", "round_rules"),
    "round_typing",
    *("round_controls", "round_control", "round_controls_figure"),
    *("round_examples", "round_example"),
}
ELSEWHERE = {"study", "study_waiting", "study_search", "job_progress", "packages_state"}


def address_of(name: str) -> str:
    patterns = get_resolver().reverse_dict.getlist(name)
    (possible, *_rest) = patterns[0][0]
    text, parameters = possible
    return "/" + text % {each: ANY_STUDY if each == "study_id" else 1 for each in parameters}


def test_every_page_of_a_study_has_a_place_in_the_menu():
    lost = []
    for name, route in STUDY_ROUTES.items():
        is_page = not route.post and name not in SAY_IT_THEMSELVES | ELSEWHERE
        if is_page and not WORK.match(name) and "d" in route.roles:
            lost += [] if entry_at(inside(address_of(name)), entries()) else [name]
    assert not lost


def test_steps_before_work_stand_in_the_menu_whatever_a_study_is_for():
    (entry,) = (entry for entry in entries() if entry.page == "onboardings")
    assert all(entry.group in path.groups for path in paths() if path.groups)


SAME = "scores score_agreement preference_rounds"
PLACES = """
    preference_round=preference_rounds answer=questions find_cam=find_start cell=datasets
    summary_set=key_points label_round=label_rounds editing_round=editing_rounds prompt=prompts
    board=boards
"""


def test_the_longest_address_wins():
    for page, _is, entry in (each.partition("=") for each in (SAME + PLACES).split()):
        assert entry_at(inside(address_of(page)), entries()).page == (entry or page)


def current(page) -> list[str]:
    found = re.findall(r'<a class="menu-entry[^"]*"[^>]*aria-current="page"[^>]*>', page)
    return [re.search(r'data-page="(\w+)"|home', each)[1] or "study" for each in found]


def test_each_role_has_its_own_menu(study):
    pages = {}
    for role in ("annotator", "expert", "researcher", "admin"):
        reply = sign_in(make_member(study, role)).get(reverse("study", args=[study.public_id]))
        text = reply.text
        pages[role] = set(re.findall(r'data-page="(\w+)"', text))
        assert ("palette" in text) == (role != "annotator")
    assert pages["annotator"] == set()
    assert pages["expert"] == {"questions", "editing", "analyses"}
    assert pages["admin"] - pages["researcher"] == {"study_settings"}
    assert len(pages["researcher"]) > 30


def test_a_page_says_where_it_is(study, researcher):
    for page in ("study", "imports", "members"):
        text = researcher.get(reverse(page, args=[study.public_id])).text
        assert current(text) == [page]


def find(client, study, words: str) -> list[dict[str, str]]:
    address = reverse("study_search", args=[study.public_id])
    return client.get(address, {"q": words}).json()["found"]


def make_things(study) -> None:
    comparison = Comparison.objects.create(study=study, object1="Tea", object2="Coffee")
    Question.objects.create(study=study, comparison=comparison, aspect="taste")
    System.objects.create(study=study, name="Tea leaves 3B")


def test_search_finds_things_of_the_own_study_alone_and_asks_once_for_each_kind(
    study, researcher, other_study, django_assert_max_num_queries
):
    for each in (study, other_study):
        make_things(each)
    make_member(study, "annotator", name="Tea Drinker")
    found = find(researcher, study, "tea")
    assert {each["kind"] for each in found} == {"Question", "System", "Member"}
    assert all(str(study.public_id) in each["url"] for each in found)
    for each in found:
        assert researcher.get(each["url"]).status_code == 200
    assert [each["kind"] for each in find(researcher, study, "coffee TASTE")] == ["Question"]
    for words in ("tea nothing of it", " "):
        assert find(researcher, study, words) == []
    # Experts find what they may open.
    expert = sign_in(make_member(study, "expert", name="Tea Taster"))
    assert {each["kind"] for each in find(expert, study, "tea")} == {"Question"}
    for number in range(MOST_SHOWN + 3):
        System.objects.create(study=study, name=f"Pot {number}")
    with django_assert_max_num_queries(12):
        assert len(find(researcher, study, "pot")) == MOST_SHOWN


def test_what_waits_is_counted_after_the_page(study, researcher, django_assert_max_num_queries):
    with django_assert_max_num_queries(20):
        reply = researcher.get(reverse("study_waiting", args=[study.public_id]))
    assert reply.json()["waiting"]["imports"] == 0
    assert reply["Cache-Control"] == "private, max-age=15"


def said(client, address):
    reply = client.get(address)
    assert reply.status_code == 200, address
    found = re.search(r'<section class="tour".*?</section>', reply.text, re.DOTALL)
    return found[0] if found else ""


@pytest.mark.long
def test_the_tour_leads_through_the_menu_and_ends(study, researcher):
    overview = researcher.get(reverse("study", args=[study.public_id])).text
    begin = re.search(r'href="([^"]+\?tour=1)">Take the tour', overview)
    assert begin is not None
    seen, address = [], begin[1]
    while address:
        stop = said(researcher, address)
        number, stops = re.search(r"Tour, (\d+) of (\d+):", stop).groups()
        assert int(number) == len(seen) + 1
        back = BACK.search(stop)
        assert (back[1] if back else None) == (seen[-1] if seen else None)
        seen.append(address)
        following = NEXT.search(stop)
        address = following[1] if following else ""
    assert len(seen) == int(stops) > 8
    assert len(set(seen)) == len(seen)
    assert "End the tour" in stop


def test_a_study_shows_what_its_question_needs_and_the_rest_behind_more(study):
    boss = make_member(study, "admin")
    client, address = sign_in(boss), reverse("study", args=[study.public_id])
    assert 'data-group="others"' not in client.get(address).text
    known = {each.key for each in GROUPS}
    for path in paths():
        assert path.groups < known
        study.goal = path.key
        study.save()
        before, _more, behind = client.get(address).text.partition('data-group="others"')
        shown = set(re.findall(r'data-group="(\w+)"', before))
        assert shown == path.groups
        assert set(re.findall(r'data-group="(\w+)"', behind)) == known - path.groups
    # The page at hand is never hidden.
    page = client.get(reverse("systems", args=[study.public_id])).text
    assert re.search(r'data-group="others"\s+open', page)
