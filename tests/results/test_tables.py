"""Columns that are declared once, and what the cells of a row come to."""

from uuid import UUID

from cqa_site.results import figures
from cqa_site.results.figures import Column, table_of, value_of
from cqa_site.stats.estimate import Bounded, BoundedMean


def test_a_path_leads_through_attributes_keys_and_places_and_ends_at_none():
    row = ("Alpha", {"1": Bounded(value=0.5), "gone": None})
    assert value_of("0", row) == "Alpha"
    assert value_of("1.1.value", row) == 0.5
    assert value_of("1.gone.value", row) is None
    assert value_of("1.unknown", row) is None
    assert value_of(lambda pair: len(pair), row) == 2


def test_an_estimate_fills_three_columns_and_a_missing_one_leaves_them_empty():
    columns = (
        Column("System", "0"),
        figures.EstimateColumn("Mean", "1"),
        figures.TextColumn("Scenario", "2"),
    )
    rows = [("A", BoundedMean(mean=2.0, low=1.0, high=3.0), 4), ("B", None, None)]
    table = table_of(columns, rows, name="means")
    assert table.columns == ["System", "Mean", "low", "high", "Scenario"]
    assert table.rows == [["A", 2.0, 1.0, 3.0, "4"], ["B", None, None, None, ""]]


def test_what_is_no_cell_is_written_as_text():
    name = UUID(int=1)
    assert table_of([Column("Id", "id")], [{"id": name}]).rows == [[str(name)]]


def test_a_figure_says_what_it_is_about_and_how_it_was_made():
    def by_name(figures, names):
        return [Column(names[0], "value")]

    figure = figures.FigureTable("Agreement", "One line.\n\nAnother.", by_name, "estimates")
    content = {"estimates": [Bounded(value=1.0)]}
    table = figure.table(content, ["Alpha"], where="Round 1.", name="alpha", about=", all")
    assert (table.caption, table.note) == ("Agreement, all. Round 1.", "One line. Another.")
    assert (table.columns, table.rows, table.name) == (["Alpha"], [[1.0]], "alpha")
