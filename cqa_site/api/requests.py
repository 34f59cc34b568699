"""The request that views of the interface get: of somebody, because they let in nobody else."""

from rest_framework.request import Request as AnyRequest

from cqa_site.people.models import User


class Request(AnyRequest):
    """For annotations: whoever asks is known, by session or by token."""

    user: User
