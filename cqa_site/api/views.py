"""Who may use which part of the API, decided once for every address inside a study.

Not a member, or no such study: 404. Annotators and experts work on the pages
and get 403 here; a token of theirs reads only ``me`` and the names of their
studies. Every row is looked up inside the study of the address.
"""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import GenericViewSet

from cqa_site.people.access import membership_or_404
from cqa_site.people.models import Membership, Role, Study
from cqa_site.people.tokens import SAFE_METHODS
from cqa_site.web.rest.strict_filters import refuse_unknown

from .requests import AnyRequest, Request


class PersonViews(GenericViewSet):
    """Addresses of any person with a token, and what all views share."""

    request: Request

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Whatever changes something is said in the body, and no query is passed over."""
        super().initial(request, *args, **kwargs)
        # A method that the address lacks is a 405, whatever the query says.
        if self.action is not None and request.method not in SAFE_METHODS:
            refuse_unknown(request, set())

    def read(self, serializer: type[Serializer], *, partial: bool = False) -> dict[str, Any]:
        """The checked body of the request; raises 400."""
        given = serializer(data=self.request.data, partial=partial)
        given.is_valid(raise_exception=True)
        return given.validated_data

    def shown(self, row: object, status: int = 200) -> Response:
        """One row as the view's serializer shows it."""
        return Response(self.get_serializer(row).data, status=status)

    def listed(self, rows: Any) -> Response:
        """One page of rows."""
        page = self.paginate_queryset(self.filter_queryset(rows))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class StudyViews(PersonViews):
    """Addresses below ``studies/<study_id>/``: researchers and admins of that study only.

    A subclass names ``queryset`` (its model, for the description) and returns
    its rows from ``rows``, always beginning at ``self.study``.
    """

    lookup_field = "public_id"
    queryset: QuerySet | None
    membership: Membership
    study: Study

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Check token, membership and role before anything else is read."""
        super().initial(request, *args, **kwargs)
        self.membership = membership_or_404(self.request.user, kwargs["study_id"])
        self.study = self.membership.study
        if not self.membership.is_researcher:
            raise PermissionDenied("Only researchers of the study may use this address.")

    def get_queryset(self) -> QuerySet:
        """The rows of this study, and none while the description is made."""
        if self.queryset is not None and getattr(self, "swagger_fake_view", False):
            return self.queryset.none()
        return self.rows()

    def rows(self) -> QuerySet:
        """Rows of ``self.study``."""
        raise NotImplementedError

    def list(self, request: Request, **kwargs: Any) -> Response:
        """A page of the rows that match the filters."""
        return self.listed(self.get_queryset())

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One row."""
        row = get_object_or_404(self.get_queryset(), public_id=kwargs["public_id"])
        return self.shown(row)


class AdminViews(StudyViews):
    """Addresses that researchers read and only admins change."""

    def initial(self, request: AnyRequest, *args: Any, **kwargs: Any) -> None:
        """Check the role once more before anything changes."""
        super().initial(request, *args, **kwargs)
        is_change = self.action is not None and request.method not in SAFE_METHODS
        if is_change and self.membership.role != Role.ADMIN:
            raise PermissionDenied("Only admins of the study may change this.")
