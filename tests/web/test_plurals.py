"""A count says "1 annotator" and "2 annotators": no sentence has the plural word alone."""

import re

from django.conf import settings

WORDS = (
    "annotators|raters|people|items|votes|labels|sheets|answers|questions|arguments|sentences|"
    "texts|pairs|rounds|systems|judges|calls|rows|key points|sets|criteria|topics|files|experts"
)
BLOCK = re.compile(
    r"\{% blocktranslate(?P<how>[^%]*)%\}(?P<said>.*?)\{% endblocktranslate %\}", re.S
)
COUNTED = re.compile(rf"(?<!of )\{{\{{ \w+ \}}\}} (?:{WORDS})\b")
IN_CODE = re.compile(rf"_\(\s*\"[^\"]*?(?<!of )(?<! all )%(?:\(\w+\))?[sd] (?:{WORDS})\b[^\"]*\"")
# Where the number is never one.
SEVERAL = {
    "templates/argsum/keypoints/_system_run_estimate.html",
    "templates/benchmark/agreement/_judges.html",
    "templates/runs/_preview.html",
    "annotation/editing/actions/rounds.py",
    "annotation/judges/reports/charts.py",
    "annotation/labelling/forms.py",
    "annotation/study/paths.py",
    "argsum/counting/actions/rounds.py",
    "argsum/imports/actions/scores.py",
    "argsum/imports/actions/placement.py",
    "argsum/keypoints/actions/system_runs.py",
    "argsum/leaderboard/reports/charts.py",
    "argsum/leaderboard/views/leaderboard.py",
    "argsum/leaderboard/views/agreement.py",
    "argsum/scorers/actions/training_data.py",
    "benchmark/agreement/reports/summary.py",
    "benchmark/judges/reports.py",
    "benchmark/leaderboard/reports/summary.py",
    "benchmark/preferences/finding.py",
    "templates/benchmark/leaderboard/board_pair.html",
    "benchmark/scoring/actions.py",
}


def test_no_count_stands_before_a_word_that_is_always_plural():
    root = settings.BASE_DIR
    found = []
    for path in root.glob("templates/**/*.html"):
        for block in BLOCK.finditer(path.read_text()):
            if " count " not in block["how"]:
                found += [(path, hit[0]) for hit in COUNTED.finditer(block["said"])]
    for app in ("cqa_site", "annotation", "benchmark", "argsum"):
        for path in (root / app).rglob("*.py"):
            text = re.sub(r"ngettext(?:_lazy)?\(.*?\)", "", path.read_text(), flags=re.S)
            found += [(path, hit[0]) for hit in IN_CODE.finditer(text)]
    named = {str(path.relative_to(root)): said for path, said in found}
    assert {path: said for path, said in named.items() if path not in SEVERAL} == {}
    assert set(named) == SEVERAL
