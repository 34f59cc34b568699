"""What the figures of the argument summarization paper are called, here and in its files."""

DATA, DEBATE, PEOPLE = "data", "Debate data", "people"
SOFT, ROUGE, LLM = "soft score", "ROUGE 1", "language-model counts"
COVERAGE = "coverage score"
CLUSTERS = {"ArgKP21": "clusters of ArgKP, oracle", "Debate": "clusters of Debate, oracle"}
WEIGHTED, FIGURE_2 = "weighted, GPT-3.5, oracle", "weighted, GPT-4o, oracle"
OWN_WEIGHTED = "weighted, oracle"
CANDIDATES, MINILM = "candidates", "all-MiniLM-L6-v2"

# The name in the paper's table → the similarity function of the file.
SOFT_FUNCTIONS = {
    ROUGE: "rouge_1",
    "BERTScore F1": "bert_score_f",
    "MoverScore": "mover_score",
    "BARTScore CNN/DM": "bart_score_cnndm_rs",
    "BARTScore Parabank": "bart_score_parabank_rs",
    "BLEURT": "bleurt",
    "MENLI": "menli",
}
TEMPERATURES = ("0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0")
MATCH_SCORERS = ("BarH", "SMatchToPr", "MCArgSum")
MATCH_THRESHOLDS = (
    "0.40", "0.45", "0.50", "0.55", "0.60", "0.65", "0.70", "0.75", "0.80", "0.85", "0.90",
)  # fmt: skip

# Systems in the paper's tables of clusters → what their clusterings are called.
CLUSTERED = {
    "USKPM": "USKPM",
    "MCArgSum": "MCArgSum_SBERT_all_mpnet_base",
    "MCArgSum (BarH)": "MCArgSum_RoBERTa",
    "MCArgSum (SMatchToPr)": "MCArgSum_SBERT_RoBERTa",
}
# Released clusterings that the paper has no figures of.
FURTHER = {"MCArgSum (DeBERTa)": "MCArgSum_DeBERTa"}
EXCLUDING, INCLUDING, ITERATIVE = "Excl. noise", "Incl. noise", "IC"
ARI, SHARE, SECONDS = "ARI", "Proportion clustered", "Runtime"
CLUSTER_FIGURES = (ARI, SHARE, SECONDS)

# Systems of figure 2 → what the stored averages call them.
AVERAGED = {
    "BarH": "BarH",
    "BarH, written candidates": "BarH+cand",
    "BarH, written summaries": "BarH+sum",
    "SMatchToPr": "SMatchToPr",
    "SMatchToPr, written candidates": "SMatchToPr+cand",
    "SMatchToPr, written summaries": "SMatchToPr+sum",
    "USKPM": "USKPM",
    "MCArgSum": "MCArgSum",
}
WEIGHTS = ("weighted score", "coverage", "redundancy")
# (data, system of figure 2) → part of the file with scores of single settings, and whether only
# the settings of its first cell take part.
BY_SETTING = {
    ("ArgKP21", "BarH, written candidates"): ("ArgKP21_BarH_Candidates", False),
    ("ArgKP21", "BarH, written summaries"): ("ArgKP21_BarH_Key_Points", False),
    ("ArgKP21", "MCArgSum"): ("ArgKP21_MCArgSum_global", True),
    ("Debate", "MCArgSum"): ("Debate_MCArgSum_global", False),
}
# Systems of the GPT-3.5 era → their evaluation files.
WEIGHTED_FILES = {
    "BarH": "ArgKP21_BarH.json",
    "BarH, written candidates": "ArgKP21_BarH_Candidates.json",
    "SMatchToPr": "ArgKP21_SMatchToPr.json",
    "SMatchToPr, written candidates": "ArgKP21_SMatchToPr_Candidates.json",
    "USKPM": "ArgKP21_USKPM.json",
    "MCArgSum, global": "ArgKP21_MCArgSum_SBERT_all_mpnet_base_global.json",
    "MCArgSum, local": "ArgKP21_MCArgSum_SBERT_all_mpnet_base_local.json",
}


def scenarios(system: str) -> tuple[str, ...]:
    """How the clusters of a system are judged in the paper."""
    noises = (EXCLUDING, INCLUDING)
    return (*noises, ITERATIVE) if system == "USKPM" else noises


def cluster_cell(system: str, scenario: str, figure: str) -> str:
    return f"{system}, {scenario}: {figure}"


def weighted_cell(data: str, system: str, figure: str) -> str:
    return f"{data}, {system}: {figure}"
