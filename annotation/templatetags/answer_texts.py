"""Answers as headings, lists and citations; all other content is shown as text."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from django import template
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from annotation.answers.methods.rendering import (
    HEADING,
    ITEMS,
    Piece,
    TextBlock,
    find_answer_blocks,
)

register = template.Library()


@register.simple_tag
def answer_text(answer: Sequence[Piece] | str, list_place: int | None = None) -> SafeString:
    """Render an answer; its text content equals the stored text, letter for letter.

    ``list_place`` is the number, on the page, of the list of arguments to which citations link.
    """
    pieces = [Piece(answer)] if isinstance(answer, str) else answer
    blocks = groupby(find_answer_blocks(pieces), key=lambda block: block.kind in ITEMS)
    html = format_html_join("", "{}", ((group,) for group in _groups(blocks, list_place)))
    # The parser of a browser turns a carriage return into a line break, and places would move.
    return mark_safe(html.replace("\r", "&#13;"))  # noqa: S308  escaped by format_html


def _groups(groups: "groupby[bool, TextBlock]", list_place: int | None) -> Iterator[SafeString]:
    for is_list, blocks in groups:
        html = format_html_join("", "{}{}", ((_block(b, list_place), b.gap) for b in blocks))
        yield format_html("<ul>{}</ul>", html) if is_list else html


def _block(block: TextBlock, list_place: int | None) -> SafeString:
    html = format_html_join("", "{}", ((_piece(piece, list_place),) for piece in block.pieces))
    if block.kind in ITEMS:
        is_deep = block.pieces[0].text[0] in " \t"
        return format_html('<li class="{}{}">{}</li>', block.kind, " deep" * is_deep, html)
    if block.kind == HEADING:
        return format_html("<h3>{}</h3>", html)
    return format_html("<p>{}</p>", html) if html else html


def _piece(piece: Piece, list_place: int | None) -> SafeString:
    if piece.is_sign:
        return format_html("<span hidden>{}</span>", piece.text)
    html = _cited(piece, list_place)
    return format_html("<strong>{}</strong>", html) if piece.is_bold else html


def _cited(piece: Piece, list_place: int | None) -> SafeString:
    if piece.is_generated:
        return format_html('<span class="generated">{}</span>', piece.text)
    if piece.number is None or not (piece.is_known or list_place):
        return conditional_escape(piece.text)
    if not piece.is_known:
        missing = _("No argument has this number")
        return format_html('<span class="unknown" title="{}">{}</span>', missing, piece.text)
    return format_html(
        '<a class="cited" href="#argument-{}-{}" aria-label="{}">{}</a>',
        list_place,
        piece.number,
        _("argument %(number)s") % {"number": piece.number},
        piece.text,
    )
