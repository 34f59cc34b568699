"""What the relevance paper prints, and what its released data give, beside what we compute."""

from dataclasses import asdict, dataclass
from typing import Any

MATCH, NEAR, DIFFERS, ABSENT = "match", "within tolerance", "differs", "not in the data"
NEAR_ENOUGH = 0.002


@dataclass(frozen=True)
class Published:
    """One figure: what the paper prints, and what the released files were found to hold.

    ``released`` is None where the release cannot support the paper's figure;
    ``digits`` is how far its floats are known, ``near`` how far off still is no difference.
    """

    key: str
    name: str
    paper: str = ""
    released: Any = None
    digits: int = 4
    why: str = ""
    near: float = NEAR_ENOUGH
    # Left out where it cannot be computed here.
    is_optional: bool = False


@dataclass(frozen=True)
class Figure:
    """A published figure with ours beside it."""

    key: str
    name: str
    paper: str
    released: Any
    ours: Any
    digits: int
    status: str
    why: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


SIZES = (
    Published("rows", "rows of the crowd file", released=6_854),
    Published("answered_void", "approved / expired rows", released=(6_409, 445)),
    Published("workers", "workers with approved work", "282", 282),
    Published("tasks", "sentences", "1,729", 1_729),
    Published("ordinary_control", "ordinary / control items", released=(1_709, 20)),
    Published("blank", "items with a blank sentence", released=21),
    Published("pairs", "object pairs", "112", 112),
    Published("pairs_folded", "object pairs without case and order", released=101),
    Published(
        "control_positions",
        "control items at place 1 … 5 of a suite",
        "after every 4",
        why="the release places the control item at random",
    ),
    Published(
        "votes_per_task",
        "votes per sentence, least and most",
        "2 to 60",
        why="the release has other extremes",
    ),
)
CROWD = (
    Published("votes", "votes on ordinary / control items", released=(5_127, 1_282)),
    Published("vote_values", "votes 0/1/2/3", released=(558, 1_308, 2_117, 2_426)),
    Published("alpha_all_nominal", "alpha, all items, nominal", released=0.2687),
    Published("alpha_all_ordinal", "alpha, all items, ordinal", released=0.3397),
    Published("alpha_all_interval", "alpha, all items, interval", released=0.3350),
    Published("alpha_ordinary_nominal", "alpha, ordinary items, nominal", released=0.2346),
    Published("alpha_ordinary_ordinal", "alpha, ordinary items, ordinal", released=0.2917),
    Published("alpha_ordinary_interval", "alpha, ordinary items, interval", released=0.2852),
)
CONTROLS = (
    Published("control_accuracy", "right answers on control items", released=(779, 1_282)),
    Published("workers_below_half", "workers with accuracy below 0.5", released=94),
    Published("workers_perfect_zero", "workers with accuracy 1 / 0", released=(39, 31)),
)
KEPT = (
    Published("kept_workers", "kept workers", released=188),
    Published("kept_votes", "… their votes on ordinary items", released=3_856),
    Published("kept_tasks_without", "… ordinary items without a vote", released=41),
    Published("kept_ties", "… tied items", released=399),
    Published("kept_alpha", "… alpha, ordinal", released=0.4055),
    Published("kept_labels", "… majority labels 0/1/2/3", released=(55, 238, 439, 936)),
)
MAJORITY = (
    Published("majority_tasks", "majority labels of items", released=(55, 241, 524, 909)),
    Published("majority_units", "majority labels of arguments", released=(49, 241, 522, 907)),
    Published("splits", "ordinary items split 3-0 / 2-1 / 1-1-1", released=(505, 938, 266)),
    Published("tied_units", "arguments with a tied vote", "265 re-annotated", 265),
)
CONSENSUS = (
    Published("equal_majority", "majority equals the released label", released=(1_440, 1_688)),
    Published("equal_experts", "… with expert batches 1–3 overriding", released=(1_528, 1_688)),
    Published("equal_adjudicated", "… with ties adjudicated as released", released=(1_673, 1_688)),
)
EXPERTS = (
    Published("expert_controls", "expert control sheet: items, raters", released=(29, 4)),
    Published("expert_alpha", "… alpha, ordinal", "0.89", 0.888881, 6),
    Published("expert_fleiss", "… Fleiss' kappa", "0.81", 0.812146, 6),
    Published(
        "batch_items",
        "sentences labelled in the batches",
        "480",
        why="five rated sheets of 100 overlap; the release does not say which 480 are meant",
    ),
    Published("batch_twice", "sentences labelled in two batches", released=31),
    Published("batch_alpha", "… alpha, ordinal", released=0.7676),
    Published("batch_equal", "… with equal labels", released=25),
)
MODEL = (
    Published("model_exact", "GPT-4 label equals the final one", released=0.4591),
    Published("model_alpha_nominal", "GPT-4, final: alpha, nominal", released=0.1702),
    Published("model_alpha_ordinal", "GPT-4, final: alpha, ordinal", released=0.2318),
    Published("model_alpha_interval", "GPT-4, final: alpha, interval", released=0.2374),
    Published(
        "model_experts",
        "GPT-4, experts: alpha",
        "0.68",
        why="the labels behind it were not released",
    ),
    Published(
        "model_crowd",
        "GPT-4, crowd: alpha",
        "0.43",
        why="the released labels give the alphas above",
    ),
)
TABLE_3 = "the paper's table has another value; its released evaluation gives this one"
OUR_SOUND = "all citations in the text, also in [3][5], none of the closing list"
SILVER = (
    Published("silver_answers", "machine answers: all, subset", "336, 150", (336, 150)),
    Published("silver_jaccard_text", "all, as in the paper: Jaccard, text", "0.25", 0.2485),
    Published("silver_jaccard_sentence", "… Jaccard, sentence", "0.21", 0.2066),
    Published("silver_levenshtein", "… Levenshtein, words", "11.82", 11.8240),
    Published("silver_precision", "… argument relevance, precision", "0.96", 0.9610),
    Published("silver_recall", "… recall", "0.75", 0.8315, why=TABLE_3),
    Published("silver_f1", "… F1", "0.81", 0.8760, why=TABLE_3),
    Published("subset_jaccard_text", "subset, as in the paper: Jaccard, text", "0.24", 0.2418),
    Published("subset_jaccard_sentence", "… Jaccard, sentence", "0.21", 0.2092),
    Published("subset_levenshtein", "… Levenshtein, words", "11.88", 11.8831),
    Published("subset_precision", "… argument relevance, precision", "0.95", 0.9557),
    Published("subset_recall", "… recall", "0.77", 0.8608, why=TABLE_3),
    Published("subset_f1", "… F1", "0.82", 0.8937, why=TABLE_3),
    Published(
        "subset_similarity",
        "… similarity (all-MiniLM-L6-v2)",
        "0.69",
        0.691,
        digits=3,
        near=0.003,
        is_optional=True,
    ),
    Published("clean_precision", "subset, labels and citations right: precision", "", 0.995, 3),
    Published("clean_recall", "… recall", "", 0.866, 3),
    Published("clean_f1", "… F1", "", 0.915, 3),
    Published("sound_precision", "subset, our sound mode: precision", why=OUR_SOUND),
    Published("sound_recall", "… recall", why=OUR_SOUND),
    Published("sound_f1", "… F1", why=OUR_SOUND),
)
IMPORTS = (Published("added_twice", "objects added by importing everything again", released=0),)
PUBLISHED = (
    *SIZES,
    *CROWD,
    *CONTROLS,
    *KEPT,
    *MAJORITY,
    *CONSENSUS,
    *EXPERTS,
    *MODEL,
    *SILVER,
    *IMPORTS,
)


def compare(values: dict[str, Any], *, asked: dict[str, str] | None = None) -> list[Figure]:
    """Put ours beside theirs; ``asked`` says, by key, which option changed a figure."""
    reasons = asked or {}
    return [
        _figure(each, values.get(each.key), reasons.get(each.key, ""))
        for each in PUBLISHED
        if each.key in values or not each.is_optional
    ]


def _figure(published: Published, ours: Any, asked: str) -> Figure:
    status = _status(published, ours)
    why = asked if status == DIFFERS and asked else published.why
    return Figure(
        key=published.key,
        name=published.name,
        paper=published.paper,
        released=published.released,
        ours=ours,
        digits=published.digits,
        status=status,
        why=why,
    )


def _status(published: Published, ours: Any) -> str:
    if published.released is None:
        return ABSENT
    if isinstance(published.released, float) and isinstance(ours, float):
        distance = abs(ours - published.released)
        if distance <= 0.5001 * 10**-published.digits:
            return MATCH
        return NEAR if distance <= published.near else DIFFERS
    return MATCH if ours == published.released else DIFFERS
