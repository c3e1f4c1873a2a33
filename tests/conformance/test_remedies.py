"""Which changes of a diagnosis can be asked of upstream's allocator."""

from __future__ import annotations

from itertools import islice

from k8s_topo_mcp.diagnosis.pending import explain_pending

from ..diagnosis.random_pods import view_of
from ..oracle.generate import problems
from .remedies import cases_of


def test_a_new_node_is_not_asked_alone_where_another_one_ends_the_attempt() -> None:
    """The pool of an `All` request is invalid on the node that is there: every attempt ends there, whatever else there is."""
    row = next(islice(problems(975522794, "1.36"), 66, None))
    report = explain_pending(*view_of(row, 36))
    assert "more nodes of this shape" in [trial.change.text for trial in report.not_helping]
    assert "more nodes of this shape" not in [case.text for case in cases_of(row, 36)]
