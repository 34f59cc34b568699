"""No file needs one that needs it in turn, not even inside a function or for a type."""

import grimp
import networkx as nx

HOUSE = ("cqa_site", "annotation", "benchmark", "argsum")


def test_no_two_files_import_each_other():
    graph = grimp.build_graph(*HOUSE, exclude_type_checking_imports=False, cache_dir=None)
    needs = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(needs) > 500
    assert "cqa_site.runs.jobs" in needs["cqa_site.runs.planning"]
    circles = nx.strongly_connected_components(nx.DiGraph(needs))
    assert [sorted(circle) for circle in circles if len(circle) > 1] == []
