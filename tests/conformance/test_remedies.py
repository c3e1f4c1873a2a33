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


def test_two_claims_of_one_name_are_no_cluster() -> None:
    row = next(row for row in islice(problems(974941563, "1.36"), 300) if "admin-access" in row["id"] and row["id"].endswith("/24"))
    names = [claim["metadata"]["name"] for claim in row["claims"]]
    assert names == ["claim-0", "claim-2", "claim-2"]
    assert list(cases_of(row, 36)) == []
    apart = [{**claim, "metadata": {**claim["metadata"], "name": f"claim-{place}"}} for place, claim in enumerate(row["claims"])]
    assert list(cases_of({**row, "claims": apart}, 36))
