"""The site's settings, with a header in every response that gives its number of queries."""

from collections.abc import Callable
from typing import Any

from cqa_site.settings import *  # noqa: F403
from cqa_site.settings import MIDDLEWARE as USUAL

HEADER = "X-Queries"
# Transaction statements are not counted, because the two databases use them differently.
QUERIES = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")

MIDDLEWARE = ["benchmarks.counted_settings.count_queries", *USUAL]


def count_queries(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap all other middleware, so that the session's queries also count."""
    from django.db import connection

    def counted(request: Any) -> Any:
        asked = []

        def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            asked.append(sql.lstrip().upper().startswith(QUERIES))
            return execute(sql, params, many, context)

        with connection.execute_wrapper(note):
            response = get_response(request)
        response[HEADER] = str(sum(asked))
        return response

    return counted
