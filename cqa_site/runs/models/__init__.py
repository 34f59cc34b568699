"""Models of background work, endpoints, prompts and the ledger of calls."""

from .endpoints import Endpoint, Gate, Job, PromptVersion, WorkerBeat
from .ledger import Attempt, Budget, Call, ProviderBatch, Reply, Run

__all__ = [
    "Attempt", "Budget", "Call", "Endpoint", "Gate", "Job", "PromptVersion", "ProviderBatch",
    "Reply", "Run", "WorkerBeat",
]  # fmt: skip
