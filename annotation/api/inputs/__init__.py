"""What the API accepts, by topic: one serializer per request, unknown fields are an error."""

from .base import Input, NothingInput, ReasonInput, require_valid
from .campaigns import (
    AddedSerializer,
    CampaignInput,
    ControlChangeInput,
    ControlInput,
    CrowdLinkInput,
    GuidelineInput,
    ItemsInput,
)
from .files import ApplyInput, CheckInput, ExportInput, ImportInput, NoteInput
from .judging import (
    EndpointInput,
    LimitsInput,
    PreviewInput,
    PromptInput,
    PromptTextInput,
    RetryInput,
    RunInput,
)
from .labels import (
    AdjudicationInput,
    AdoptedSerializer,
    AdoptInput,
    ConsensusInput,
    ExcludedSerializer,
)
from .people import InvitationInput, MemberInput, StudyInput
from .training import TrainingInput

__all__ = [
    "AddedSerializer",
    "AdjudicationInput",
    "AdoptInput",
    "AdoptedSerializer",
    "ApplyInput",
    "CampaignInput",
    "CheckInput",
    "ConsensusInput",
    "ControlChangeInput",
    "ControlInput",
    "CrowdLinkInput",
    "EndpointInput",
    "ExcludedSerializer",
    "ExportInput",
    "GuidelineInput",
    "ImportInput",
    "Input",
    "InvitationInput",
    "ItemsInput",
    "LimitsInput",
    "MemberInput",
    "NoteInput",
    "NothingInput",
    "PreviewInput",
    "PromptInput",
    "PromptTextInput",
    "ReasonInput",
    "RetryInput",
    "RunInput",
    "StudyInput",
    "TrainingInput",
    "require_valid",
]
