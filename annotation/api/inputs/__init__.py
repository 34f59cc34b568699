"""What the API accepts, by topic: one serializer per request, unknown fields are an error."""

from cqa_site.api.inputs import Input, NothingInput, ReasonInput, require_valid

from .answers import LearnedInput, QuestionInput, SystemInput
from .campaigns import (
    AddedSerializer,
    CampaignInput,
    ControlChangeInput,
    ControlInput,
    GuidelineInput,
    ItemsInput,
)
from .editing import EditingRoundInput, RoundCommentInput
from .faithfulness import FiguresInput
from .files import (
    ApplyInput,
    BatchApplyInput,
    BatchCheckInput,
    BatchInput,
    CheckInput,
    ExportInput,
    ImportInput,
    MatchInput,
)
from .judging import (
    AnswersRunInput,
    CoherenceRunInput,
    LaunchChangeInput,
    LaunchInput,
    RunInput,
)
from .labels import (
    AdjudicationInput,
    AdoptInput,
    BelowInput,
    ConsensusInput,
    ExcludeLowInput,
    PreferredLabelsInput,
)
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
    "AnswersRunInput",
    "ApplyInput",
    "BatchApplyInput",
    "BatchCheckInput",
    "BatchInput",
    "BelowInput",
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
    "EditingRoundInput",
    "ExcludeLowInput",
    "ExportInput",
    "FiguresInput",
    "GuidelineInput",
    "ImportInput",
    "Input",
    "ItemsInput",
    "LaunchChangeInput",
    "LaunchInput",
    "LearnedInput",
    "MatchInput",
    "NothingInput",
    "PlacesInput",
    "PreferredLabelsInput",
    "QuestionInput",
    "ReasonInput",
    "RoundCommentInput",
    "RunInput",
    "SentencesInput",
    "ServiceInput",
    "SystemInput",
    "TrainingInput",
    "require_valid",
]
