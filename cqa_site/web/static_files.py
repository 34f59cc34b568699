"""Selection of static files from packages."""

from django.contrib.staticfiles.apps import StaticFilesConfig


class NeededFiles(StaticFilesConfig):
    """Static files, except those that no page loads.

    Compressing the unused files takes five times as long as compressing the rest.

    The files of the REST framework belong to its own pages, which this site does not have.
    """

    ignore_patterns = [
        *StaticFilesConfig.ignore_patterns,
        "rest_framework/*",
        *(f"django_htmx/{name}" for name in ("ext/*", "htmax*", "htmx-4*", "htmx-2.js")),
    ]
