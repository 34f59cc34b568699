"""Tables of the argument summarization paper, beside what its released data hold.

Read off the files with plain CSV and JSON decoders, numpy and scikit-learn alone, apart from the
readers and figures they are held against. One figure a line: name | paper | released data.
"""

# Soft scores with people's coverage: across / mean within / sd within, over 126 sets, 6 cells.
SOFT = """
ROUGE 1, sP | -0.118 / -0.072 / 0.194 | -0.1180 / -0.0719 / 0.1939
ROUGE 1, sR | 0.164 / 0.315 / 0.170 | 0.1638 / 0.3151 / 0.1697
ROUGE 1, sF1 | 0.027 / 0.127 / 0.184 | 0.0270 / 0.1266 / 0.1843
BERTScore F1, sP | -0.028 / 0.092 / 0.262 | -0.0285 / 0.0919 / 0.2625
BERTScore F1, sR | 0.254 / 0.402 / 0.175 | 0.2539 / 0.4019 / 0.1751
BERTScore F1, sF1 | 0.121 / 0.240 / 0.242 | 0.1215 / 0.2395 / 0.2420
MoverScore, sP | -0.046 / 0.044 / 0.227 | -0.0458 / 0.0445 / 0.2268
MoverScore, sR | 0.156 / 0.310 / 0.204 | 0.1561 / 0.3096 / 0.2040
MoverScore, sF1 | 0.069 / 0.191 / 0.207 | 0.0695 / 0.1913 / 0.2069
BARTScore CNN/DM, sP | -0.146 / -0.305 / 0.164 | -0.1460 / -0.3048 / 0.1641
BARTScore CNN/DM, sR | 0.024 / -0.011 / 0.283 | 0.0241 / -0.0107 / 0.2830
BARTScore CNN/DM, sF1 | -0.053 / -0.132 / 0.264 | -0.0534 / -0.1320 / 0.2642
BARTScore Parabank, sP | -0.271 / -0.221 / 0.251 | -0.2707 / -0.2209 / 0.2509
BARTScore Parabank, sR | -0.012 / 0.112 / 0.339 | -0.0121 / 0.1117 / 0.3394
BARTScore Parabank, sF1 | -0.132 / -0.022 / 0.320 | -0.1322 / -0.0225 / 0.3200
BLEURT, sP | -0.209 / -0.218 / 0.289 | -0.2094 / -0.2176 / 0.2886
BLEURT, sR | 0.033 / 0.138 / 0.247 | 0.0331 / 0.1375 / 0.2472
BLEURT, sF1 | -0.091 / -0.055 / 0.294 | -0.0908 / -0.0548 / 0.2944
MENLI, sP | -0.154 / -0.039 / 0.287 | -0.1536 / -0.0392 / 0.2870
MENLI, sR | 0.265 / 0.372 / 0.260 | 0.2652 / 0.3719 / 0.2600
MENLI, sF1 | 0.107 / 0.228 / 0.298 | 0.1073 / 0.2280 / 0.2978
"""

# The name in the table → the similarity function of the file.
SOFT_FUNCTIONS = {
    "ROUGE 1": "rouge_1",
    "BERTScore F1": "bert_score_f",
    "MoverScore": "mover_score",
    "BARTScore CNN/DM": "bart_score_cnndm_rs",
    "BARTScore Parabank": "bart_score_parabank_rs",
    "BLEURT": "bleurt",
    "MENLI": "menli",
}

# Language-model counts with people: across / mean within / sd within.
LLM = """
coverage, temperature 0.2 | 0.736 / 0.756 / 0.100 | 0.7362 / 0.7564 / 0.0997
coverage, temperature 0.3 | 0.725 / 0.747 / 0.133 |
coverage, temperature 0.4 | 0.746 / 0.771 / 0.112 |
coverage, temperature 0.5 | 0.742 / 0.757 / 0.127 |
coverage, temperature 0.6 | 0.741 / 0.762 / 0.122 |
coverage, temperature 0.7 | 0.755 / 0.789 / 0.103 |
coverage, temperature 0.8 | 0.729 / 0.755 / 0.108 |
coverage, temperature 0.9 | 0.754 / 0.782 / 0.131 |
coverage, temperature 1.0 | 0.767 / 0.803 / 0.115 | 0.7672 / 0.8035 / 0.1148
redundancy, temperature 0.2 | 0.798 / 0.697 / 0.226 | 0.7983 / 0.6975 / 0.2261
redundancy, temperature 0.3 | 0.789 / 0.752 / 0.096 |
redundancy, temperature 0.4 | 0.817 / 0.758 / 0.122 |
redundancy, temperature 0.5 | 0.812 / 0.724 / 0.210 |
redundancy, temperature 0.6 | 0.837 / 0.795 / 0.088 |
redundancy, temperature 0.7 | 0.830 / 0.782 / 0.112 |
redundancy, temperature 0.8 | 0.828 / 0.762 / 0.111 |
redundancy, temperature 0.9 | 0.843 / 0.784 / 0.109 |
redundancy, temperature 1.0 | 0.852 / 0.824 / 0.055 | 0.8518 / 0.8238 / 0.0546
"""

# Coverage score at the best threshold with people: across / mean within.
COVERAGE = """
match scorer of BarH | 0.489 / 0.698 |
match scorer of SMatchToPr | 0.541 / 0.600 |
match scorer of MCArgSum | 0.449 / 0.551 |
"""

# Best clustering per cell (oracle): mean / sd over the 6 cells.
CLUSTERS = """
USKPM, excluding noise: ARI | 0.273 / 0.045 | 0.2730 / 0.0455
USKPM, excluding noise: share clustered | 0.884 / 0.079 | 0.8836 / 0.0788
USKPM, excluding noise: seconds | 1.417 / 0.136 | 1.4167 / 0.1356
USKPM, including noise: ARI | 0.253 / 0.057 | 0.2525 / 0.0574
USKPM, including noise: seconds | 1.478 / 0.113 | 1.4783 / 0.1132
USKPM, iterative: ARI | 0.268 / 0.052 | 0.2683 / 0.0517
USKPM, iterative: share clustered | 1.000 / 0.000 | 1.0000 / 0.0000
USKPM, iterative: seconds | 4.377 / 4.378 | 4.3767 / 4.3782
MCArgSum, excluding noise: ARI | 0.594 / 0.299 | 0.5941 / 0.2987
MCArgSum, excluding noise: share clustered | 0.908 / 0.061 | 0.9081 / 0.0613
MCArgSum, excluding noise: seconds | 1.133 / 0.178 | 1.1333 / 0.1778
MCArgSum, including noise: ARI | 0.547 / 0.255 | 0.5474 / 0.2553
MCArgSum, including noise: seconds | 1.133 / 0.178 | 1.1333 / 0.1778
MCArgSum with BarH's scorer, excluding noise: ARI | 0.725 / 0.182 |
MCArgSum with BarH's scorer, including noise: ARI | 0.640 / 0.158 |
MCArgSum with SMatchToPr's scorer, excluding noise: ARI | 0.682 / 0.109 |
MCArgSum with SMatchToPr's scorer, including noise: ARI | 0.639 / 0.113 |
"""

# Best setting per cell by the weighted score (oracle): weighted / coverage / redundancy.
WEIGHTED = """
BarH | | 0.7800 / 0.7742 / 0.2083
BarH, written candidates | | 0.7904 / 0.8435 / 0.3158
SMatchToPr | | 0.8057 / 0.9498 / 0.4825
SMatchToPr, written candidates | | 0.8237 / 0.8393 / 0.2075
USKPM | | 0.7567 / 0.8095 / 0.3489
MCArgSum, global | | 0.8105 / 0.8243 / 0.2171
MCArgSum, local | | 0.7912 / 0.7905 / 0.2072
"""

# The system in the table → its evaluation file.
WEIGHTED_FILES = {
    "BarH": "ArgKP21_BarH.json",
    "BarH, written candidates": "ArgKP21_BarH_Candidates.json",
    "SMatchToPr": "ArgKP21_SMatchToPr.json",
    "SMatchToPr, written candidates": "ArgKP21_SMatchToPr_Candidates.json",
    "USKPM": "ArgKP21_USKPM.json",
    "MCArgSum, global": "ArgKP21_MCArgSum_SBERT_all_mpnet_base_global.json",
    "MCArgSum, local": "ArgKP21_MCArgSum_SBERT_all_mpnet_base_local.json",
}

# The same with GPT-4o: weighted score.
GPT4O = """
BarH | 0.85 |
BarH, written candidates | 0.88 | 0.8773
BarH, written summaries | 0.86 | 0.8593
SMatchToPr | 0.86 |
SMatchToPr, written candidates | 0.88 |
SMatchToPr, written summaries | 0.85 |
USKPM | 0.80 |
MCArgSum, thresholds of the first cell | 0.84 | 0.8439
MCArgSum, all thresholds | | 0.8739
Debate, MCArgSum | 0.89 | 0.8849
"""

# The system in the table → its part of the file, and whether only settings of its first cell.
GPT4O_PARTS = {
    "BarH, written candidates": ("ArgKP21_BarH_Candidates", False),
    "BarH, written summaries": ("ArgKP21_BarH_Key_Points", False),
    "MCArgSum, thresholds of the first cell": ("ArgKP21_MCArgSum_global", True),
    "MCArgSum, all thresholds": ("ArgKP21_MCArgSum_global", False),
    "Debate, MCArgSum": ("Debate_MCArgSum_global", False),
}

DATA = """
topics in train / dev / test | 24 / 4 / 3 | 24 / 4 / 3
labelled pairs | 27,519 | 27,519
test: unique arguments | 732 | 723
test: … with exactly one key point | | 454
test: … of one sentence | 428 | 428
train: kept arguments | | 3,287
dev: kept arguments | | 537
kept arguments that are those of the released file | | 4,252
"""

PEOPLE = """
sets | 126 | 126
coverage, mean Pearson of two annotators | 0.697 | 0.6972
redundancy, mean Pearson of two annotators | 0.722 | 0.7217
"""

# SMatchToPr: before / after fill-up at 10 %.
CANDIDATES = """
vaccination, supporting | | 31 / 31
vaccination, opposing | | 24 / 24
media, supporting | | 28 / 28
media, opposing | | 24 / 24
USA, supporting | | 7 / 9
USA, opposing | | 2 / 4
"""

# Worked examples of docs/papers/argsum.md.
EXAMPLES = """
soft scores: sP / sR / sF1 | | 0.70 / 0.85 / 0.7677
coverage score, threshold .8 | | 0.5
coverage of 3 replies: value, unparsable, clipped | | 0.9375 / 1 / 1
redundancy of 3 replies: value, unparsable, clipped | | 0.30 / 0 / 1
ARI excluding noise / share clustered / including noise | | 1.0 / 0.6 / 0.375
"""

MINILM = """
ARI excluding noise, oracle | | 0.144
ARI including noise, oracle | | 0.154
argument → key point accuracy, mean over cells | | 0.591
"""
