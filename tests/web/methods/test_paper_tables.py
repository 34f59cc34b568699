"""A paper's tables as text, Markdown and LaTeX that can be printed."""

import shutil
import subprocess

import pytest

from cqa_site.reproduction.figures import MeasuredFigure, PrintedFigure, ReproducedValue, compare
from cqa_site.reproduction.tables import TableCell, TableLayout, TableLine, fill

TABLE = "table 5"
JUDGES = ("Mixtral", "GPT-4o", "R&D_1")
MODELS = (("GPT-4o", "1"), ("GPT-4o", "2"), ("CAM", ""))


def pair(mean, sd):
    return MeasuredFigure((mean, sd), 50, "±")


def figures():
    found = {
        (TABLE, "GPT-4o 1 Mixtral"): ReproducedValue(pair(18.571, 0.722)),
        (TABLE, "GPT-4o 2 Mixtral"): ReproducedValue(pair(17.97, 1.75), pair(17.5, 1.6), "sound"),
        (TABLE, "CAM  Mixtral"): ReproducedValue(pair(9.668, 4.43)),
        (TABLE, "GPT-4o 1 GPT-4o"): ReproducedValue(pair(17.59, 1.0)),
        (TABLE, "GPT-4o 2 GPT-4o"): ReproducedValue(None, pair(17.2, 10.3), "sound"),
        (TABLE, "GPT-4o 1 R&D_1"): ReproducedValue(pair(1.0, 0.5)),
    }
    printed = [
        PrintedFigure(TABLE, "GPT-4o 1 Mixtral", "18.57 ± 0.72"),
        PrintedFigure(TABLE, "GPT-4o 2 Mixtral", "17.97 ± 8.75", "a slip"),
        PrintedFigure(TABLE, "CAM  Mixtral", "9.66 ± 4.43"),
        PrintedFigure(TABLE, "GPT-4o 1 GPT-4o", "17.59 ± 1.00"),
        PrintedFigure(TABLE, "GPT-4o 2 GPT-4o", "17.22 ± 1.33"),
        PrintedFigure(TABLE, "CAM  GPT-4o", "9.52 ± 3.81", "no judgements"),
    ]
    return compare(found, printed)


def layout(judges=JUDGES, **more):
    lines = tuple(
        TableLine(model, tuple(TableCell((TABLE, f"{' '.join(model)} {each}")) for each in judges))
        for model in MODELS
    )
    heads = ("Model", "Scenario", *judges)
    return TableLayout("compqa-5", "Scores, 50 % of all", heads, lines, **more)


def test_text_has_the_rows_and_columns_of_the_paper():
    assert fill(layout(), figures()).to_text().splitlines() == [
        "Scores, 50 % of all",
        "",
        "Model   Scenario        Mixtral          GPT-4o        R&D_1",
        "------------------------------------------------------------",
        "GPT-4o  1         18.57 ± 0.72    17.59 ± 1.00   1.00 ± 0.50",
        "GPT-4o  2         17.97 ± 1.75†  17.20 ± 10.30‡            –",
        "CAM                9.67 ± 4.43†              –             –",
        "",
        "† Differs from the paper, which prints GPT-4o 2 Mixtral (17.97 ± 8.75): a slip; "
        "CAM  Mixtral (9.66 ± 4.43).",
        "‡ By another recipe: sound.",
        "– Cannot be computed: no judgements.",
    ]


def test_a_figure_that_only_the_authors_files_state_is_marked():
    key = ("llm", "coverage")
    line = TableLine(("coverage",), (TableCell(key),))
    made = TableLayout("t", "c", ("Metric", "x"), (line,), digits=None)
    stated = {key: ReproducedValue(stated=MeasuredFigure((0.7251,)))}
    table = fill(made, compare(stated, [PrintedFigure(*key, "0.725")]))
    assert table.cells[0][0].shown == "0.725*"
    assert table.notes == ("* Not computed: as the authors' results file states it.",)


def test_part_of_a_figure_fills_a_cell():
    key = ("soft", "ROUGE sR")
    found = {key: ReproducedValue(MeasuredFigure((0.1638, 0.3151, 0.1697), 126, "/±"))}
    shown = compare(found, [PrintedFigure(*key, "0.164 / 0.315 ± 0.170")])
    line = TableLine(("ROUGE",), (TableCell(key, 0, 1), TableCell(key, 1), None))
    heads, spans = ("Metric", "across", "within", "x"), (("sR", 2), ("", 1))
    table = fill(TableLayout("t", "c", heads, (line,), spans, digits=None), shown)
    assert [each.text for each in table.cells[0]] == ["0.164", "0.315 ± 0.170", ""]
    assert "| Metric | sR: across | sR: within | x |" in table.to_markdown()
    assert "\\multicolumn{3}{c}{sR}" in table.to_latex()
    assert "\\cmidrule(lr){2-4}" in table.to_latex()


def test_markdown_is_a_pipe_table():
    lines = fill(layout(), figures()).to_markdown().splitlines()
    assert lines[2:4] == [
        "| Model | Scenario | Mixtral | GPT-4o | R&D\\_1 |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    assert "| CAM |  | 9.67 ± 4.43† | – | – |" in lines


def test_latex_is_aligned_around_the_sign_and_escaped():
    text = fill(layout(), figures()).to_latex()
    assert "\\begin{tabular}{@{}ll" + "r@{\\,$\\pm$\\,}r" * 3 + "@{}}" in text
    assert "\\multicolumn{2}{c}{R\\&D\\_1} \\\\" in text
    assert "GPT-4o & 1 & 18.57 & 0.72 & 17.59 & 1.00 & 1.00 & 0.50 \\\\" in text
    # Lines of one model stand together, and its name is said once.
    assert "\n & 2 & 17.97 & 1.75\\rlap{\\textsuperscript{\\ensuremath{\\dagger}}} &" in text
    assert "\\addlinespace\nCAM &  & 9.67 & 4.43\\rlap{\\textsuperscript{\\ensuremath{" in text
    assert "\\multicolumn{2}{c}{--}" in text
    assert "\\caption{Scores, 50 \\% of all}" in text
    assert "\\label{tab:compqa-5}" in text
    assert "‡" not in text
    assert "±" not in text


def wide(n=12):
    judges = tuple(f"Judge {at}" for at in range(n))
    found = {
        (TABLE, f"{system} {scenario} {each}"): ReproducedValue(pair(10.5 + at, 2.5))
        for system, scenario in MODELS
        for at, each in enumerate(judges)
    }
    return fill(layout(judges), compare(found))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_pdflatex_sets_it_without_an_overfull_line(tmp_path):
    tables = [fill(layout(), figures()), *(wide(n) for n in (2, 4, 7, 9, 20))]
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs}"
        "\\setlength{\\textwidth}{455pt}\\begin{document}\n"
        + "\\clearpage\n".join(each.to_latex() for each in tables)
        + "\\end{document}\n",
        encoding="utf-8",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Overfull" not in done.stdout
