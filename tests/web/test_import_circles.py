"""No file needs one that needs it in turn, not even inside a function."""

import grimp
import networkx as nx

HOUSE = ("cqa_site", "annotation", "benchmark", "argsum")


def test_no_two_files_import_each_other():
    graph = grimp.build_graph(*HOUSE, exclude_type_checking_imports=True, cache_dir=None)
    needs = {each: graph.find_modules_directly_imported_by(each) for each in graph.modules}
    assert len(needs) > 500
    assert "cqa_site.runs.jobs" in needs["cqa_site.runs.planning"]
    circles = nx.strongly_connected_components(nx.DiGraph(needs))
    assert [sorted(each) for each in circles if len(each) > 1] == []
