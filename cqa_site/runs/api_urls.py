"""Addresses of endpoints, prompts and background work in the REST interface."""

from cqa_site.api.addresses import CHANGE, CREATE, S, address, resource

from .api.endpoints import EndpointViews
from .api.jobs import JobViews
from .api.prompts import PromptListViews, PromptViews

urlpatterns = [
    *resource(S + "jobs/", "jobs", "job", JobViews),
    *resource(
        S + "endpoints/",
        "endpoints",
        "endpoint",
        EndpointViews,
        "probe archive",
        listed=CREATE,
        row=CHANGE,
    ),
    address(S + "endpoints/embedded/", "endpoint_embedded", EndpointViews, post="embedded"),
    *resource(
        S + "prompts/",
        "prompts",
        "prompt",
        PromptViews,
        "preview",
        listed=CREATE,
        row=CHANGE,
        list_views=PromptListViews,
    ),
]
