"""Foreign text in a diagram stays text."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.topology_graph import TOOL
from k8s_topo_mcp.topology import mermaid
from tests.topology.clusters import gpu, node, resource_slice, view

NODE = re.compile(r'(?:n\d+-->)?n\d+\["(?:[^"#%&<>`$\\{}]|#\d+;)*"\](?::::\w+)?')


@given(st.text())
@example('"] --> x["')
@example('%%{init: {"securityLevel": "loose"}}%%')
@example("`**bold**`")
@example("#quot;")
@example("$$x^2$$")
@example("<img src=x onerror=alert(1)>")
def test_a_label_cant_end_its_quotes_or_start_anything(text: str) -> None:
    # Labels are one line long: rendering.clean has been over them.
    label = " ".join(text.split())
    assert NODE.fullmatch(mermaid.node(3, 1, label, "free"))


def test_a_hostile_product_name_stays_on_its_line() -> None:
    hostile = 'x"]\nclick n0 "javascript:alert(1)"\nn9["\x1b[31m\u202e%%{init:{}}%%'
    cluster = view([node("n1"), resource_slice("gpu.nvidia.com", "n1", [gpu("gpu-0", product=hostile)])])
    for scope in ("cluster", "node/n1"):
        chart = ask(TOOL, cluster, {"scope": scope, "format": "mermaid"}).report
        for line in chart.splitlines():
            assert line == mermaid.HEADER or line.startswith(("classDef ", "%% ")) or NODE.fullmatch(line), line
        assert not re.search(r"[\x1b\u202e]", chart)
