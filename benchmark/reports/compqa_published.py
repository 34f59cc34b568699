"""What the CompQA paper prints, and what its released data hold.

A figure's numbers stand as text, so that their digits are known. The released values were read
off the files with a CSV and a JSON decoder alone, apart from the readers they are held against.
"""

from benchmark.methods.compqa_rubric import COMPQA
from cqa_site.web.published import Published

from .compqa_published_cells import CELLS, ROWS, SCENARIOS

JUDGE_NAME, PEOPLE_NAME = "GPT-4o", "people"
SYSTEM_NAMES = {
    "gpt3-5": "GPT-3.5",
    "gpt4": "GPT-4o",
    "llama3-70b": "Llama-3-70B",
    "llama3-8b": "Llama-3-8B",
    "mixtral": "Mixtral",
    "perplexity": "Perplexity",
    "human": "Human",
    "yahoo": "Yahoo",
    "cam": "CAM",
}
GROUPS = tuple(each.key for each in COMPQA.groups)
OTHER_JUDGES = ("Mixtral", "Llama-3-8B", "Llama-3-70B", "Perplexity", "GPT-3.5")


def cell_name(rater: str, system: str, scenario: int = 0) -> str:
    """How a cell of a leaderboard is called, scenario 0 being none."""
    under = f", scenario {scenario}" if scenario else ""
    return f"{SYSTEM_NAMES[system]}{under}, by {rater}"


def _words(line: str) -> list[str]:
    return [word.replace("±", " ± ") for word in line.split()]


def _cells() -> tuple[Published, ...]:
    found = []
    for line in CELLS.strip().splitlines():
        system, scenario, *figures = _words(line)
        for rater, at in ((JUDGE_NAME, 0), (PEOPLE_NAME, 2)):
            name = cell_name(rater, system, int(scenario))
            found.append(Published("table 5", name, *figures[at : at + 2]))
    return tuple(found)


def _rows() -> tuple[Published, ...]:
    found = []
    for line in ROWS.strip().splitlines():
        system, *figures = _words(line)
        for rater, at in ((JUDGE_NAME, 0), (PEOPLE_NAME, 2)):
            why = CUT_OFF if rater == PEOPLE_NAME and system in ("perplexity", "llama3-8b") else ""
            name = cell_name(rater, system)
            found.append(Published("table 3", name, *figures[at : at + 2], why=why))
    return tuple(found)


def _scenarios() -> tuple[Published, ...]:
    found = []
    for line in SCENARIOS.strip().splitlines():
        rater, scenario, *figures = _words(line)
        # The paper's charts have people, and a judge that is not in the data.
        among = "" if rater == PEOPLE_NAME else "as "
        for name, figure in zip(("total", *GROUPS), figures, strict=True):
            table = f"{among}figure {6 if name == 'total' else 7}"
            cell = f"scenario {scenario}, {name}, by {rater}"
            found.append(Published(table, cell, released=figure))
    return tuple(sorted(found, key=lambda each: (each.table.startswith("as"), each.table)))


CUT_OFF = "the paper's mean is cut off, not rounded"
TWO_COUNTS = "table 1 of the paper and the files have 20"
CUT_FIRST = "the row that swallowed others is cut at its tab first, and then fits whole"
NO_JUDGE = "no judgements by this judge"
NO_SUBSET = "its subset of answers is not known; ours is over the 367 human rows"
NO_PAIR = "the release has the two annotators' mean only"
NO_ANSWERS = "neither these answers nor judgements of them"
NO_SCORES = "the paper does not say which judge gave the 18 points or more"
NO_ARGUMENTS = "no lists of arguments"

COUNTS = (
    Published("counts", "answers", "2,158", "2,158"),
    Published("counts", "… of the six models", "2,000", "2,000"),
    Published("counts", "… of CAM / Yahoo / Human", "50 / 28 / 80", "50 / 28 / 80"),
    Published("counts", "… with the text of an earlier one of the file", released="3"),
    Published("counts", "files", released="27"),
    Published("counts", "object pairs", "50", "50"),
    Published("counts", "… with an aspect, without Yahoo's", "20", "20"),
    Published("counts", "… as section 2.2 has it", "18", "20", TWO_COUNTS),
    Published("counts", "judgements without all 15 scores", released="0"),
    Published("counts", "scores of the judge out of range", released="2"),
    Published("counts", "… judgements with such, unscored here", released="1"),
    Published("counts", "human rows", "367", "367"),
    Published("counts", "… linked to their answer", released="367"),
    Published("counts", "… by all letters / the first 300", "", "365 / 2", CUT_FIRST),
    Published("counts", "… with 0 in the column score", released="145"),
    Published("counts", "… swallowed by another row's text", released="3"),
    Published("counts", "human scores out of range", released="3"),
)
ASPECTS = (
    Published("table 4", "with an aspect, by people", "13.43 ± 2.98", "13.4314 ± 2.9837"),
    Published("table 4", "without, by people", "15.01 ± 2.69", "15.0133 ± 2.6862"),
    Published("as table 4", "with an aspect, each answer once", "", "13.91 ± 3.05"),
    Published("as table 4", "without, each answer once", "", "15.33 ± 2.90"),
)
AGREEMENT = (
    Published("agreement", "totals: alpha, interval", released=".394"),
    Published("agreement", "totals: Pearson", released=".549"),
    Published("agreement", "totals: Spearman", released=".432"),
    Published("agreement", "all scores concatenated: alpha, interval", released=".645"),
    Published("agreement", "… with the answers shuffled", released=".54"),
    Published("agreement", "mean of judge − people, points", released="+1.93"),
)
TABLE_2 = (
    Published("table 2", "GPT-4o, separately: alpha", "0.71", "", NO_SUBSET),
    Published("table 2", "GPT-4o, separately: Spearman", "0.69", "", NO_SUBSET),
    Published("table 2", "GPT-4o, final score: alpha", "0.58", "", NO_SUBSET),
    Published(
        "table 2",
        "GPT-4o, final score: Spearman",
        "0.55",
        "",
        f"{NO_SUBSET}, whose Pearson is .55",
    ),
    Published("table 2", "GPT-3.5", ".63 .63 / .31 .40", "", NO_JUDGE),
    Published("table 2", "Perplexity", ".71 .72 / .39 .60", "", NO_JUDGE),
    Published("table 2", "Mixtral", ".55 .69 / .22 .62", "", NO_JUDGE),
    Published("table 2", "Llama-3-8B", ".48 .49 / .41 .46", "", NO_JUDGE),
    Published("table 2", "Llama-3-70B", ".61 .76 / .47 .72", "", NO_JUDGE),
)
ELSEWHERE = (
    Published("table 1", "arguments: mean, least, most", "10, 3, 20", "", NO_ARGUMENTS),
    Published("table 1", "pairs with more than the mean", "23", "", NO_ARGUMENTS),
    Published("section 3", "two annotators, total: alpha", "0.75", "", NO_PAIR),
    Published("section 3", "two annotators, all scores: alpha", "0.71", "", NO_PAIR),
    Published("section 4", "fine-tuned Llama-3-8B", "18.40 ± 1.25", "", NO_ANSWERS),
    Published("section 4", "question-answer pairs for it", "1,244", "", NO_SCORES),
    Published("table 6", "seven systems by Llama-3-70B", "35 cells", "", NO_JUDGE),
    Published("table 7", "five systems by Llama-3-70B", "21 cells", "", NO_JUDGE),
)
PUBLISHED = (
    *COUNTS,
    *_cells(),
    *(Published("table 5", f"column {each}", "27 cells", "", NO_JUDGE) for each in OTHER_JUDGES),
    *_rows(),
    *(Published("table 3", f"column {each}", "9 cells", "", NO_JUDGE) for each in OTHER_JUDGES),
    *ASPECTS,
    Published("table 4", "column Llama-3-70B", "2 cells", "", NO_JUDGE),
    *_scenarios(),
    Published("figure 6", "column Llama-3-70B", "4 bars", "", NO_JUDGE),
    Published("figure 8", "extremes by Llama-3-70B", "4 charts", "", NO_JUDGE),
    *AGREEMENT,
    *TABLE_2,
    *ELSEWHERE,
)
