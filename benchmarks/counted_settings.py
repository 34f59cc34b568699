"""The site's settings; every answer says in a header how many queries it took."""

from collections.abc import Callable
from typing import Any

from cqa_site.settings import *  # noqa: F403
from cqa_site.settings import MIDDLEWARE as USUAL

HEADER = "X-Queries"
# Not what begins and ends a transaction, which the two databases are told differently.
QUERIES = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")

MIDDLEWARE = ["benchmarks.counted_settings.count_queries", *USUAL]


def count_queries(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Middleware around all others, so that the session's queries count, too."""
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
