"""What the API shows, by topic; nothing here writes."""

from .calls import (
    CallDetailSerializer,
    CallReplySerializer,
    CallSerializer,
    JudgeLabelSerializer,
)
from .campaigns import (
    CampaignSerializer,
    ConsensusSerializer,
    CrowdLinkSerializer,
    ItemSerializer,
    NewCrowdLinkSerializer,
)
from .endpoints import (
    EndpointSerializer,
    PreviewSerializer,
    PromptDetailSerializer,
    PromptSerializer,
)
from .files import (
    ExportSerializer,
    ImportProblemSerializer,
    ImportSerializer,
    SnapshotDetailSerializer,
    SnapshotSerializer,
)
from .judges import JudgeSerializer, ModelCardSerializer, TrainedJudgeSerializer
from .labels import AdjudicationSerializer, FinalLabelSerializer, RaterSerializer, VoteSerializer
from .people import (
    AuditEventSerializer,
    InvitationSerializer,
    MemberSerializer,
    NewInvitationSerializer,
)
from .quality import (
    AnnotatorDetailSerializer,
    AnnotatorSerializer,
    ControlDetailSerializer,
    ControlSerializer,
)
from .runs import (
    EstimateSerializer,
    RunComparisonSerializer,
    RunDetailSerializer,
    RunSerializer,
)
from .studies import (
    ArgumentSerializer,
    ComparisonSerializer,
    GuidelineSerializer,
    JobSerializer,
    LevelSerializer,
    MeSerializer,
    StudyNameSerializer,
    StudySerializer,
    TokenSerializer,
)

__all__ = [
    "AdjudicationSerializer",
    "AnnotatorDetailSerializer",
    "AnnotatorSerializer",
    "ArgumentSerializer",
    "AuditEventSerializer",
    "CallDetailSerializer",
    "CallReplySerializer",
    "CallSerializer",
    "CampaignSerializer",
    "ComparisonSerializer",
    "ConsensusSerializer",
    "ControlDetailSerializer",
    "ControlSerializer",
    "CrowdLinkSerializer",
    "EndpointSerializer",
    "EstimateSerializer",
    "ExportSerializer",
    "FinalLabelSerializer",
    "GuidelineSerializer",
    "ImportProblemSerializer",
    "ImportSerializer",
    "InvitationSerializer",
    "ItemSerializer",
    "JobSerializer",
    "JudgeLabelSerializer",
    "JudgeSerializer",
    "LevelSerializer",
    "MeSerializer",
    "MemberSerializer",
    "ModelCardSerializer",
    "NewCrowdLinkSerializer",
    "NewInvitationSerializer",
    "PreviewSerializer",
    "PromptDetailSerializer",
    "PromptSerializer",
    "RaterSerializer",
    "RunComparisonSerializer",
    "RunDetailSerializer",
    "RunSerializer",
    "SnapshotDetailSerializer",
    "SnapshotSerializer",
    "StudyNameSerializer",
    "StudySerializer",
    "TokenSerializer",
    "TrainedJudgeSerializer",
    "VoteSerializer",
]
