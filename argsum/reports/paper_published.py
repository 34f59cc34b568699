"""What the argument summarization paper prints, and what its released data hold."""

from cqa_site.web.published import Published

from . import paper_published_tables as tables

DATA, PEOPLE, SOFT, LLM = "data", "people", "soft score", "language-model counts"
ROUGE, COVERAGE, CLUSTERS = "soft score again", "coverage score", "clusters, oracle"
WEIGHTED, GPT4O = "weighted, GPT-3.5, oracle", "weighted, GPT-4o, oracle"
CANDIDATES, EXAMPLES, MINILM = "candidates", "worked example", "all-MiniLM-L6-v2"

_OF_TABLE = {
    LLM: "the scores of the sets are released for temperatures 0.2 and 1.0 only",
    COVERAGE: "the weights of the match scorers are not released",
    CLUSTERS: "clusterings with this scorer are not released",
    GPT4O: "only the average is released, not the scores of the settings",
}
_OF_CELL = {
    (DATA, "test: unique arguments"): "the paper prints 732; the released test split has 723",
    (GPT4O, "Debate, MCArgSum"): "the stored average is 0.8855, from other scores",
}
_TEXTS = {
    DATA: tables.DATA,
    PEOPLE: tables.PEOPLE,
    SOFT: tables.SOFT,
    ROUGE: "".join(line + "\n" for line in tables.SOFT.splitlines() if line.startswith("ROUGE")),
    LLM: tables.LLM,
    COVERAGE: tables.COVERAGE,
    CLUSTERS: tables.CLUSTERS,
    WEIGHTED: tables.WEIGHTED,
    GPT4O: tables.GPT4O,
    CANDIDATES: tables.CANDIDATES,
    EXAMPLES: tables.EXAMPLES,
    MINILM: tables.MINILM,
}


def _published(table: str, line: str) -> Published:
    cell, paper, released = (part.strip() for part in line.split("|"))
    why = _OF_CELL.get((table, cell), "" if released else _OF_TABLE.get(table, ""))
    return Published(table, cell, paper, released, why)


PUBLISHED = tuple(
    _published(table, line) for table, text in _TEXTS.items() for line in text.strip().splitlines()
)
