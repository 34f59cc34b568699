"""Which static files of packages are collected."""

from django.contrib.staticfiles.apps import StaticFilesConfig


class NeededFiles(StaticFilesConfig):
    """Static files without those no page loads.

    Packing these takes five times as long as the rest.

    Of the REST framework these are its own pages, which this site does not have.
    """

    ignore_patterns = [
        *StaticFilesConfig.ignore_patterns,
        "rest_framework/*",
        *(f"django_htmx/{name}" for name in ("ext/*", "htmax*", "htmx-4*", "htmx-2.js")),
    ]
