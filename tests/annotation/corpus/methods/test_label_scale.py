"""Labels are whole numbers of the scale, or nothing, or refused."""

import pytest

from annotation.corpus.methods.label_scale import parse_label


@pytest.mark.parametrize(
    ("value", "label"),
    [("0", 0), (" 3 ", 3), (2, 2), (1.0, 1), ("", None), ("  ", None), (None, None)],
)
def test_read(value, label):
    assert parse_label(value) == label


@pytest.mark.parametrize(
    "value", ["4", -1, 2.5, "2.0", True, "two", "٣", "³", [1], "1" * 50, float("inf"), 1e300]
)
def test_refused(value):
    with pytest.raises(ValueError, match="is not a label of the scale 0, 1, 2, 3"):
        parse_label(value)


def test_other_scales():
    assert parse_label("7", range(8)) == 7
    assert parse_label("-1", (-1, 0, 1)) == -1
