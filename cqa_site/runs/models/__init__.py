"""Background work, endpoints, prompts and the ledger of calls."""

from .endpoints import Endpoint, Gate
from .jobs import Job, WorkerBeat
from .ledger import Attempt, Budget, Call, ProviderBatch, Reply, Run
from .prompts import PromptVersion

__all__ = [
    "Attempt",
    "Budget",
    "Call",
    "Endpoint",
    "Gate",
    "Job",
    "PromptVersion",
    "ProviderBatch",
    "Reply",
    "Run",
    "WorkerBeat",
]
