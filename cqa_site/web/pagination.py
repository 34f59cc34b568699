"""Pages of API lists."""

from typing import Any

from django.core.paginator import Paginator
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

MAX_PAGE = 1_000_000


class Pages(PageNumberPagination):
    """50 rows a page by default, at most 200; a page beyond the last one is a 404."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200

    def get_page_size(self, request: Request) -> int:
        """Read ``page_size``; raises 400 unless it lies between 1 and 200."""
        given = request.query_params.get("page_size")
        return self.page_size if given is None else _whole(given, "page_size", self.max_page_size)

    def get_page_number(self, request: Request, paginator: Paginator) -> Any:
        """Read ``page``; raises 400 unless it is a whole number from 1 on."""
        return _whole(request.query_params.get("page", "1"), "page", MAX_PAGE)


def _whole(text: str, name: str, largest: int) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= 7
    if not is_number or not 1 <= int(text) <= largest:
        raise ValidationError({name: [f"A whole number from 1 to {largest:,}."]})
    return int(text)
