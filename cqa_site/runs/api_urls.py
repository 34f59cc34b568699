"""Addresses of endpoints, prompts, runs and background work in the REST API."""

from cqa_site.api.base import CHANGE, CREATE, LIST, R, S, address, resource
from .api.endpoints import EndpointViews, JobViews, OfferedViews, PromptListViews, PromptViews
from .api.runs import CallViews, ReplyViews, RunViews

urlpatterns = [
    *resource(S + "jobs/", "jobs", "job", JobViews),
    *resource(
        S + "endpoints/",
        "endpoints",
        "endpoint",
        EndpointViews,
        "probe offer archive",
        listed=CREATE,
        row=CHANGE,
    ),
    address(S + "endpoints/offered/", "endpoint_offers", OfferedViews, **CREATE),
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
    *resource(
        S + "runs/",
        "runs",
        "run",
        RunViews,
        "go-on pause resume correct cancel retry again",
        listed=CREATE,
        row=CHANGE,
    ),
    address(S + "runs/estimate/", "run_estimate", RunViews, post="estimate"),
    *resource(R + "calls/", "calls", "call", CallViews),
    address(R + "replies/", "replies", ReplyViews, **LIST),
]
