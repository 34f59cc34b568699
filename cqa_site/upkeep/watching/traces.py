"""Traces to the OpenTelemetry collector in OTEL_EXPORTER_OTLP_ENDPOINT.

Instrumentation libraries trace requests, tasks and statements. Each job and each call in a run has
a separate span (`cqa_site.web.logging.around`) with the same ids as the log lines. Exported spans
only contain listed attributes, because those libraries also record paths and addresses.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace.status import Status

import cqa_site
from cqa_site.web.logging import PLACE, SPANS, hide
from .requests import HEADER, person_of, route_of

OURS = "counterpoint."
SENT_ATTRIBUTES = {
    "celery.action", "celery.state", "db.statement", "db.system", "http.method", "http.route",
    "http.status_code", "messaging.message.id",
}  # fmt: skip


def trace_work() -> None:
    """Start tracing; standard environment variables set the sampling, the name and the target."""
    # A name in OTEL_SERVICE_NAME has priority.
    resource = Resource.create({"service.version": cqa_site.__version__})
    if str(resource.attributes.get("service.name", "")).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": "counterpoint"}))
    provider = TracerProvider(resource=resource)
    # By default, the exporter only looks in the environment, but the address may be in a file.
    exporter = OTLPSpanExporter(endpoint=settings.TRACES_ENDPOINT)
    provider.add_span_processor(BatchSpanProcessor(OnlyWhatLogsHold(exporter)))
    trace.set_tracer_provider(provider)
    DjangoInstrumentor().instrument(response_hook=_name_request)
    CeleryInstrumentor().instrument()
    PsycopgInstrumentor().instrument()
    SPANS.append(_span)


class OnlyWhatLogsHold:
    """An exporter that removes paths, headers, addresses and error messages from spans."""

    def __init__(self, exporter: SpanExporter) -> None:
        self.exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self.exporter.export([_copy(span) for span in spans])

    def shutdown(self) -> None:
        self.exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return bool(self.exporter.force_flush(timeout_millis))


def _copy(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={
            name: hide(value) if isinstance(value, str) else value
            for name, value in (span.attributes or {}).items()
            if name in SENT_ATTRIBUTES or name.startswith(OURS)
        },
        events=[Event(event.name, _type_of(event), event.timestamp) for event in span.events],
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _type_of(event: Event) -> dict[str, Any]:
    """Return only the type of an exception."""
    name = "exception.type"
    return {name: event.attributes[name]} if event.attributes and name in event.attributes else {}


def _name_request(span: trace.Span, request: HttpRequest, response: HttpResponse) -> None:
    """Name the span after the route, and add the ids from the request's log lines."""
    route = route_of(request)
    span.update_name(f"{request.method} {route}")
    span.set_attribute(f"{OURS}request", response.headers.get(HEADER, ""))
    span.set_attribute(f"{OURS}route", route)
    span.set_attribute(f"{OURS}person", person_of(request))


@contextmanager
def _span(work: str, fields: Mapping[str, str]) -> Iterator[None]:
    attributes = {f"{OURS}{name}": field for name, field in fields.items() if name != PLACE}
    with trace.get_tracer("counterpoint").start_as_current_span(work, attributes=attributes):
        yield
