"""Pages of API lists."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """50 a page by default, at most 200."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
