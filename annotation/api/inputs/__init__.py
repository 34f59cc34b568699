"""What the API accepts, by topic: one serializer per request, unknown fields are an error."""

from .answers import QuestionInput, SystemInput
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
from .editing import EditingRoundInput, RoundCommentInput
from .faithfulness import FiguresInput
from .files import ApplyInput, CheckInput, ExportInput, ImportInput, NoteInput
from .judging import (
    AnswersRunInput,
    CoherenceRunInput,
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
from .retrieval import (
    CamInput,
    ColumnsInput,
    ComparisonInput,
    CorpusInput,
    PlacesInput,
    SentencesInput,
    ServiceInput,
)
from .training import TrainingInput

__all__ = [
    "AddedSerializer",
    "AdjudicationInput",
    "AdoptInput",
    "AdoptedSerializer",
    "AnswersRunInput",
    "ApplyInput",
    "CamInput",
    "CampaignInput",
    "CheckInput",
    "CoherenceRunInput",
    "ColumnsInput",
    "ComparisonInput",
    "ConsensusInput",
    "ControlChangeInput",
    "ControlInput",
    "CorpusInput",
    "CrowdLinkInput",
    "EditingRoundInput",
    "EndpointInput",
    "ExcludedSerializer",
    "ExportInput",
    "FiguresInput",
    "GuidelineInput",
    "ImportInput",
    "Input",
    "InvitationInput",
    "ItemsInput",
    "LimitsInput",
    "MemberInput",
    "NoteInput",
    "NothingInput",
    "PlacesInput",
    "PreviewInput",
    "PromptInput",
    "PromptTextInput",
    "QuestionInput",
    "ReasonInput",
    "RetryInput",
    "RoundCommentInput",
    "RunInput",
    "SentencesInput",
    "ServiceInput",
    "StudyInput",
    "SystemInput",
    "TrainingInput",
    "require_valid",
]
