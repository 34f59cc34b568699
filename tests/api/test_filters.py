"""Lists know a few query parameters; no path through the tables is one of them."""

import sys

import pytest
from rest_framework.serializers import ModelSerializer

from .addresses import ADDRESSES
from .routes import LISTS

pytestmark = pytest.mark.django_db
HOUSE = ("cqa_site.", "annotation.", "benchmark.", "argsum.")
LOOKUPS = ("", "__exact", "__startswith", "__gt", "__in", "__isnull", "__regex")
SECRETS = """
    user__password__startswith created_by__email__contains study__memberships__user__password
    user__api_tokens__secret_hash__startswith rater__user__email item__control_label
    ordering order_by search__regex fields limit
"""


def view_of(route):
    return next(each for each in ADDRESSES if each.name == f"api_{route.name}").callback.cls


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_undeclared_parameters_are_400_whatever_they_lead_to(world, researcher, alone, step):
    answers = set()
    for at, route in enumerate(LISTS[::step]):
        fields = view_of(route).queryset.model._meta.get_fields()
        paths = {f"{field.name}{LOOKUPS[at % len(LOOKUPS)]}" for field in fields}
        names = sorted({*paths, *SECRETS.split()} - set(filters_of(route)))
        # One of them alone: a name must not hide behind others.
        for some in ([names[at % len(names)]], names):
            with alone(route):
                response = route.send(researcher, world, query=f"?{'=3&'.join(some)}=3")
                assert response.status_code == 400
                # Each of them is named, so none was looked up.
                errors = response.json()["errors"]
                assert errors == {name: ["Unknown parameter."] for name in some}
                answers.add(response.json()["detail"])
    assert len(answers) == 1


BAD_PAGES = (
    *("page=0", "page=-1", "page=x", "page=1e3", "page=", "page=1&page=2", "page=%00"),
    *(f"page={'9' * 400}", "page_size=0", "page_size=201", "page_size="),
)


def some_pages(at):
    """All for the first list, one for each third other: one class counts the pages of all."""
    if not at:
        return BAD_PAGES
    return () if at % 3 else [BAD_PAGES[at // 3 % len(BAD_PAGES)]]


def all_pages(_at):
    return BAD_PAGES


@pytest.mark.parametrize("pages", [some_pages, pytest.param(all_pages, marks=pytest.mark.long)])
def test_paging_is_bounded(world, researcher, alone, pages):
    for at, route in enumerate(LISTS):
        with alone(route):
            bad = pages(at)
            for query in bad:
                response = route.send(researcher, world, query=f"?{query}")
                assert response.status_code == 400, query
            if len(bad) > 1:
                assert route.send(researcher, world, query="?page=9999").status_code == 404
                first = route.send(researcher, world, query="?page=1&page_size=1").json()
                assert first["count"] >= len(first["results"]) == 1


def filters_of(route):
    filterset = getattr(view_of(route), "filterset_class", None)
    return filterset.base_filters if filterset else {}


def wrong_for(field):
    """Values that a filter must refuse: one of its own is none."""
    choices = field.extra.get("choices", ())
    known = {str(value) for value, _label in (choices() if callable(choices) else choices)}
    garbage = ("[]", "NaN", "1.5", "-1", "'; --", "%F0%9F%8D%B5")
    return [each for each in garbage if each not in known]


def test_every_filter_that_is_no_text_refuses_garbage(world, researcher, alone):
    """All of a list at once, each with another value; the answer names them, or they are alone."""
    for at, route in enumerate(LISTS):
        filters = [(name, each) for name, each in filters_of(route).items() if not is_text(each)]
        values = {name: wrong_for(each)[(at + n) % 4] for n, (name, each) in enumerate(filters)}
        while values:
            refused = set(values)
            with alone(f"{route}, {', '.join(values)}"):
                query = "&".join(f"{name}={value}" for name, value in values.items())
                response = route.send(researcher, world, query=f"?{query}")
                assert response.status_code == 400
                named = set(response.json()["errors"])
                assert set() < named <= set(values)
                refused = named
            values = {name: values[name] for name in values if name not in refused}


def is_text(field):
    return type(field).__name__ == "CharFilter"


def rows_of(researcher, world, name, query):
    route = next(each for each in LISTS if each.name == name)
    response = route.send(researcher, world, query=query)
    assert response.status_code == 200, response.content
    return response.json()["results"]


def test_filters_filter(world, researcher):
    votes, rater = rows_of(researcher, world, "votes", ""), str(world.rater.public_id)
    for name, value in (
        ("state", "answered"),
        ("state", "served"),
        ("rater", rater),
        ("label", 0),
    ):
        found = rows_of(researcher, world, "votes", f"?{name}={value}")
        assert found == [vote for vote in votes if vote[name] == value]
        assert found
    controls = rows_of(researcher, world, "items", "?is_control=true")
    assert [item["control_label"] for item in controls] == [3, 3]
    assert len(rows_of(researcher, world, "items", "?is_control=false")) == 8


def test_counted_votes_are_those_of_the_figures(world, researcher):
    counted, others = (
        rows_of(researcher, world, "votes", f"?counted={each}") for each in ("true", "false")
    )
    assert {vote["state"] for vote in counted} == {"answered"}
    assert {vote["is_counted"] for vote in others} == {False}
    assert len(counted) == world.label_round.assignments.filter(state="answered").count()
    place = world.label_round.places.get(rater=world.rater)
    place.excluded_at = place.started_at
    place.save()
    left = rows_of(researcher, world, "votes", "?counted=true")
    assert left == [vote for vote in counted if vote["rater"] != str(world.rater.public_id)]


def test_no_view_searches_or_orders_by_request():
    for pattern in ADDRESSES:
        view = pattern.callback.cls
        assert not getattr(view, "search_fields", None)
        assert not getattr(view, "ordering_fields", None)


def test_serializers_name_every_field():
    found = [
        each
        # Every address was imported above, and with it all that is told.
        for name, module in list(sys.modules.items())
        if name.startswith(HOUSE) and "api" in name
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, ModelSerializer) and hasattr(each, "Meta")
    ]
    assert len(found) > 60
    for serializer in found:
        assert isinstance(serializer.Meta.fields, list)
        assert not hasattr(serializer.Meta, "depth")
        if getattr(serializer.Meta, "model", None):
            assert all(field.read_only for field in serializer().fields.values())
