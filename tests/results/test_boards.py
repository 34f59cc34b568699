"""The template of all boards: ranks, intervals, tie groups, and systems without a rank."""

from django.template.loader import render_to_string
from django.test import RequestFactory

from cqa_site.results import boards
from cqa_site.results.boards import Board, BoardCell, BoardColumn, BoardRow, figure_cell
from cqa_site.stats.estimate import Bounded, RankPosition
from tests.flat import flat


def shown(**about) -> str:
    place = RankPosition(rank=1, rank_low=1, rank_high=2, tie_group=2)
    cell = figure_cell(Bounded(value=1.25, low=-0.5, high=3))
    ranked = BoardRow(name="Alpha", cells=[cell], tick="7", place=place)
    unranked = BoardRow(name="Beta <b>", cells=(), why="it met nobody")
    columns = [BoardColumn("mean", "Mean", word="interval")]
    return drawn(Board(columns=columns, rows=[ranked, unranked], **about))


def drawn(board: Board) -> str:
    request = RequestFactory().get("/")
    return flat(render_to_string("results/_board.html", {"board": board}, request))


def test_without_a_test_every_rank_is_open():
    rows = [BoardRow(name=str(at), place=RankPosition(rank=at), cells=()) for at in (1, 2, 3)]
    said = drawn(Board(columns=[], rows=[*rows, BoardRow(name="D", cells=())]))
    assert said.count('<span class="soft small">1–3</span>') == 3
    assert "1–1" not in drawn(Board(columns=[], rows=rows[:1]))


def test_only_ticked_boards_offer_a_choice_and_only_ranked_ones_a_rank():
    assert "checkbox" not in shown()
    assert "<strong>1</strong>" not in shown(is_ranked=False)
    assert 'value="7"' in shown(is_ticked=True)


def test_an_unknown_figure_is_a_dash_and_an_interval_has_two_bounds():
    assert figure_cell(Bounded(value=None)) == BoardCell()
    found = figure_cell(Bounded(value=1), notes=["", "few"], details=["n 3", ""])
    assert found == BoardCell("1.00", notes=["few"], details=["n 3"])


def columned() -> Board:
    cell = figure_cell(Bounded(value=1), notes=["few"], details=["n 3"])
    rows = [BoardRow(name="Alpha", cells=[cell, BoardCell("9 s")]), BoardRow(name="B", cells=())]
    columns = [BoardColumn("mean", "Mean"), BoardColumn("cost", "Cost", is_shown=False)]
    return Board(columns=columns, rows=rows)


def test_a_board_opens_with_some_columns_and_shows_those_that_are_wanted():
    opened = boards.with_columns(columned(), ())
    assert [each.title for each in opened.columns] == ["Mean"]
    assert [each.is_shown for each in opened.choices] == [True, False]
    assert opened.rows[0].cells == [figure_cell(Bounded(value=1), notes=["few"], details=["n 3"])]
    assert not opened.rows[1].cells
    chosen = boards.with_columns(columned(), ("cost", "unknown"))
    assert [each.title for each in chosen.columns] == ["Cost"]
    assert [each.is_shown for each in chosen.choices] == [False, True]
    assert chosen.rows[0].cells == [BoardCell("9 s")]
