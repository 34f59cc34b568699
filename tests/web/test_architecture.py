"""the architecture page names what the contracts really have."""

import re
from collections import Counter
from pathlib import Path

import grimp
import networkx as nx

from benchmarks.planted.faults import FAULTS
from cqa_site.rounds.kind import SheetKind, TaskKind, kinds
from cqa_site.rounds.lifecycle import OneByOne

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/architecture.md"
HOUSE = ("cqa_site", "annotation", "benchmark", "argsum", "templates", "static/js", "static/css")


def members(contract: type) -> set[str]:
    said = {name for name in vars(contract) if not name.startswith("_")}
    return said | set(contract.__annotations__)


def test_the_recipe_for_a_kind_names_every_member_of_the_contract():
    rows = re.findall(r"^   \| (`.*?`) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == members(TaskKind) | members(SheetKind) | members(OneByOne)


def test_no_room_holds_more_than_twenty_files():
    files = [
        path for part in HOUSE for path in (ROOT / part).rglob("*.*") if path.suffix != ".pyc"
    ]
    rooms = Counter(path.parent for path in files if path.is_file())
    assert len(rooms) > 200
    assert {str(room): n for room, n in rooms.items() if n > 20} == {}


def test_every_kind_has_what_the_contract_asks_for():
    for kind in kinds():
        contract = members(TaskKind)
        if isinstance(kind, OneByOne):
            contract |= members(SheetKind) | members(OneByOne)
        missing = [name for name in contract if not hasattr(kind, name)]
        assert not missing, f"{kind.name} lacks {missing}"
        if not isinstance(kind, OneByOne):
            continue
        subject = kind.Item._meta.get_field(kind.subject)
        assert kind.Sheet._meta.get_field(kind.subject).related_model == subject.related_model
        assert {each.name for each in kind.Sheet._meta.get_fields()} >= {
            "events",
            "conflicts",
            "slot",
        }
        for name in kind.settled:
            kind.Sheet._meta.get_field(name)


def test_every_planted_fault_can_still_be_planted():
    """Otherwise nobody knows any more which test would notice it."""
    for fault in FAULTS:
        count = (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old)
        assert count == 1, f"{fault.name}: the old text stands {count} times in {fault.file}"
        assert all((ROOT / aim).exists() for aim in fault.aims), fault.name


def test_no_two_files_import_each_other():
    """Not even inside a function or for a type."""
    apps = HOUSE[:4]
    graph = grimp.build_graph(*apps, exclude_type_checking_imports=False, cache_dir=None)
    needs = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(needs) > 500
    assert "cqa_site.runs.jobs" in needs["cqa_site.runs.planning"]
    circles = nx.strongly_connected_components(nx.DiGraph(needs))
    assert [sorted(circle) for circle in circles if len(circle) > 1] == []
