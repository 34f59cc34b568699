"""Pages of API lists."""

from typing import Any

from django.core.paginator import Paginator
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

from cqa_site.web.strict_query import whole_number

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

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Both parameters with their bounds."""
        bounds = {"page": MAX_PAGE, "page_size": self.max_page_size}
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            parameter["schema"] |= {"minimum": 1, "maximum": bounds[parameter["name"]]}
        return parameters


def _whole(text: str, name: str, largest: int) -> int:
    number = whole_number(text)
    if number is None or not 1 <= number <= largest:
        raise ValidationError({name: [f"A whole number from 1 to {largest:,}."]})
    return number
