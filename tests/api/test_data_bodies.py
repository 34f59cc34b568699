"""Bodies that show dataclasses: what becomes of their fields."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from rest_framework import serializers

from cqa_site.api.base import DataSerializer, body_of


class Corner(NamedTuple):
    """Where two streets meet."""

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
    assert body(ROW).data == {
        "name": "High Street",
        "corners": [{"x": 1, "y": None}],
        "houses": {"odd": [1, 3]},
        "end": None,
        "anything": [None],
        "either": None,
    }
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
