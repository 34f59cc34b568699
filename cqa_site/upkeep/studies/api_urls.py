"""Addresses of one study in the REST interface."""

from cqa_site.api.base import CHANGE, S, address

from .api import StudyDetailViews

urlpatterns = [
    address(S, "study", StudyDetailViews, **CHANGE, delete="destroy"),
    address(S + "archive/", "study_archive", StudyDetailViews, post="archive"),
    address(S + "unarchive/", "study_unarchive", StudyDetailViews, post="unarchive"),
]
