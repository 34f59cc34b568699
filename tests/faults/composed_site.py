"""A site whose web server and workers are those of compose.yaml; see `benchmarks.composed`."""

from dataclasses import dataclass, field

from benchmarks.campaign_server import PASSWORD, collected_files
from benchmarks.composed import Composed
from benchmarks.http_annotator import Annotator
from tests.faults.fault_site import FaultSite


@dataclass
class ComposedSite(FaultSite):
    """Fills the database of an installation and asks it; the nursery starts no worker here."""

    settings: str = "cqa_site.settings"
    values: dict[str, str] = field(default_factory=dict)
    redis: str = "redis://127.0.0.1:6379/9"
    composed: Composed | None = None

    def __post_init__(self) -> None:
        elsewhere = {
            "DATABASE_URL": self.database_url,
            "CELERY_BROKER_URL": self.redis,
            "CACHE_URL": self.redis,
            "EGRESS_ALLOW": f"127.0.0.1/32:{self.stub_port}",
            # Nobody here waits half a minute for what a killed worker left.
            "CALL_LEASE_SECONDS": str(self.lease),
            "JOB_LEASE_SECONDS": str(self.lease),
            "CALL_BREAK_SECONDS": "0.5",
            "LOG_LEVEL": "ERROR",
        }
        static = collected_files(self.settings)
        self.composed = Composed(elsewhere, values=self.values, static=static)

    @property
    def environment(self) -> dict[str, str]:
        """That of the web server."""
        return self.composed.environment("web") | {"DJANGO_SETTINGS_MODULE": self.settings}

    def annotators(self) -> list[Annotator]:
        """Everybody, signed in; what a proxy says is said by them."""
        host = self.composed.host
        people = [Annotator(self.composed.port, self.work, seed=n) for n in range(self.people)]
        for number, person in enumerate(people):
            person.headers = {
                "Host": host,
                "Origin": f"https://{host}",
                "X-Forwarded-Proto": "https",
                "X-Forwarded-For": f"192.0.2.{number + 1}",
            }
            person.sign_in(f"a{number}@bench.example", PASSWORD)
        return people

    def remove(self) -> None:
        """Everything with it."""
        self.composed.remove()
        super().remove()
