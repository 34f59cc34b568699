"""Bodies that are made: of a form, with its fields, bounds, choices and words; of a dataclass."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from django import forms
from rest_framework import serializers

from benchmark.scoring.forms import ScoringRoundForm
from cqa_site.api.base import DataSerializer, FormInput, body_of
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import make_scored_answers
from tests.cast import make_member, make_study


class Colours(forms.Form):
    name = forms.CharField(max_length=5)
    note = forms.CharField(required=False, help_text="Why.")
    share = forms.FloatField(min_value=0, max_value=0.5, initial=0)
    size = forms.IntegerField(min_value=1, max_value=9, required=False)
    colour = forms.ChoiceField(choices=[("", "any"), ("r", "red"), ("g", "green")], required=False)
    colours = forms.TypedMultipleChoiceField(
        choices=[(1, "red"), (2, "green")], coerce=int, required=False
    )
    named = forms.MultipleChoiceField(required=False)
    is_bright = forms.BooleanField(required=False)
    secret = forms.CharField()


class ColoursInput(FormInput):
    form = Colours
    left_out = ("secret",)
    most_chosen = 3


def refused(**given):
    body = ColoursInput(data={"name": "abc"} | given)
    return set() if body.is_valid() else set(body.errors)


def test_a_body_has_the_bounds_and_choices_of_its_form():
    for field, good, bad in (
        ("name", "abcde", ["abcdef", "", None]),
        ("note", "", [None, ["a"]]),
        ("share", 0.5, [0.6, -1, None]),
        ("size", None, [0, 10, "x"]),
        ("colour", "", ["blue", None]),
        ("colours", [1, 2], [[3], [1, 1, 1], 1]),
        ("named", ["any", "one"], [["a"] * 4, ["a" * 201]]),
        ("is_bright", True, ["perhaps"]),
    ):
        assert not refused(**{field: good}), field
        for value in bad:
            assert refused(**{field: value}) == {field}, value


def test_what_a_form_begins_with_or_can_do_without_may_be_left_out():
    fields = ColoursInput().fields
    assert [name for name, field in fields.items() if field.required] == ["name"]
    assert "secret" not in fields
    assert fields["note"].help_text == "Why."
    assert refused(secret="x") == {"secret"}


@pytest.mark.django_db
def test_a_system_that_is_gone_is_left_out_of_a_stored_plan():
    study = make_study()
    make_scored_answers(study)
    row = make_round(study, make_member(study, "researcher"), name="First")
    kept = study.systems.first()
    row.recipe["systems"] = [str(kept.public_id), "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"]
    stored = ScoringRoundForm(study=study, round_=row).stored()
    assert stored["systems"] == [str(kept.public_id)]
    assert (stored["name"], stored["rubric"]) == ("First", row.rubric.public_id)
    assert set(stored) == set(ScoringRoundForm.base_fields)


class Corner(NamedTuple):
    x: int
    y: float | None


@dataclass
class Street:
    """A street.

    What else is said of it is for developers.
    """

    name: str
    corners: tuple[Corner, ...]
    houses: dict[str, list[int]]
    end: Corner | None = None
    anything: Any = None
    either: int | str | None = None


ROW = Street("High Street", (Corner(1, None),), {"odd": [1, 3]}, anything=[None])


def test_a_body_has_a_field_for_each_of_a_dataclass_also_inside_of_others():
    body = body_of(Street)
    assert (body.__name__, body.__doc__) == ("StreetSerializer", "A street.")
    corners, houses = [{"x": 1, "y": None}], {"odd": [1, 3]}
    shown = {"name": "High Street", "corners": corners, "houses": houses}
    assert body(ROW).data == shown | {"end": None, "anything": [None], "either": None}
    fields = body().fields
    assert fields["end"].allow_null
    assert not fields["name"].allow_null
    assert isinstance(fields["either"], serializers.JSONField)


def test_a_child_leaves_out_renames_and_stands_for_the_dataclass_elsewhere(monkeypatch):
    monkeypatch.setattr(DataSerializer, "own", {})

    class Own(DataSerializer):
        shows = Street
        left_out = ("houses", "anything", "either", "end", "corners")
        called = serializers.CharField(source="name")

    assert Own(ROW).data == {"name": "High Street", "called": "High Street"}
    assert DataSerializer.own == {Street: Own}
    with pytest.raises(AttributeError):
        Own(object()).data  # noqa: B018 - the fields are read here
