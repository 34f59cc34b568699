"""What workers do for runs besides carrying calls."""

from cqa_site.judging.chat import CallFailed
from cqa_site.judging.packages import Part

from .actions.endpoints import probe
from .carrying import draining  # noqa: F401  carries calls in place where work runs so
from .jobs import JobRefused, Work, handles, wait_for
from .models import Endpoint, Run
from .planning.planning import write_calls


@handles("plan_run", sends=True)
def plan_run(work: Work) -> None:
    """Write the calls of a draft; an endpoint nobody has asked before is probed first."""
    run = Run.objects.select_related("endpoint", "prompt", "study", "budget").get(
        public_id=work.payload["run"]
    )
    if run.state != Run.State.DRAFT:
        return
    _wait_for_model(run.endpoint)
    if run.endpoint.probed_at is None:
        try:
            probe(run.endpoint)
        except CallFailed:
            # The pre-flight's own calls will say precisely what is wrong.
            run.endpoint.capabilities = {}
        run.spec["use_schema"] = run.endpoint.can("json_schema")
    write_calls(run)


@handles("probe_endpoint", sends=True)
def probe_endpoint(work: Work) -> None:
    """Find out what an endpoint can do."""
    endpoint = Endpoint.objects.get(study=work.study, public_id=work.payload["endpoint"])
    _wait_for_model(endpoint)
    try:
        probe(endpoint)
    except CallFailed as failure:
        raise JobRefused(f"{failure.kind}: {failure}") from None


@handles("run_webhook", sends=True)
def run_webhook(work: Work) -> None:
    """Tell the address of a run that it ended."""
    from .carrying.webhooks import send

    send(
        Run.objects.select_related("study", "budget", "endpoint").get(
            public_id=work.payload["run"]
        )
    )


def _wait_for_model(endpoint: Endpoint) -> None:
    if endpoint.kind == Endpoint.Kind.EMBEDDED:
        wait_for(Part.MODEL)
