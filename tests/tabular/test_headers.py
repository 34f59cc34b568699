"""Every column gets one name of its own."""

from hypothesis import given
from hypothesis import strategies as st

from cqa_site.tabular.headers import unique_headers


@given(
    st.lists(st.sampled_from(["a", "a (2)", "a (3)", "", " a ", "Column 2", None]), max_size=12)
)
def test_names_are_unique_and_none_is_lost(cells):
    names = unique_headers(cells)
    assert len(names) == len(cells) == len(set(names))
    assert all(names)


def test_a_numbered_header_that_exists_is_not_taken_away():
    assert unique_headers(["a", "a", "a (2)"]) == ["a", "a (3)", "a (2)"]
    assert unique_headers(["Column 2", ""]) == ["Column 2", "Column 2 (2)"]
