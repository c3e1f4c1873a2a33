"""What is in use, revised by claims that come and go, is what would be collected anew."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from k8s_topo_mcp.dra.problem import InUse
from k8s_topo_mcp.objects import ResourceClaim, decode
from k8s_topo_mcp.releases import release
from k8s_topo_mcp.scheduling.dynamic_resources import in_use
from k8s_topo_mcp.view import Add, ClusterView, Delete, Edit, Replace
from k8s_topo_mcp.view.indices import allocated_claims

Result = tuple[int, str, str | None]
"""device, how it is held ("whole", "share", "admin"), what a share consumes"""

results = st.tuples(st.integers(0, 3), st.sampled_from(("whole", "share", "share", "admin")), st.sampled_from((None, "1", "2Gi", "500m")))
claims = st.dictionaries(st.integers(0, 5), st.none() | st.lists(results, max_size=3), max_size=6)
"""number of the claim -> what it holds; None: it isn't allocated"""


def claim(number: int, held: list[Result] | None) -> ResourceClaim:
    found: list[dict[str, Any]] = []
    for place, (device, how, consumed) in enumerate(held or ()):
        entry: dict[str, Any] = {"request": f"r{place}", "driver": "d", "pool": f"p{device // 2}", "device": f"gpu-{device}"}
        if how == "share":
            entry["shareID"] = f"00000000-0000-0000-0000-{number:06}{place:06}"
            entry |= {} if consumed is None else {"consumedCapacity": {"memory": consumed}}
        found.append(entry | ({"adminAccess": True} if how == "admin" else {}))
    made = decode(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": f"c{number}", "namespace": "default"},
            "spec": {"devices": {"requests": []}},
            "status": {} if held is None else {"allocation": {"devices": {"results": found}}},
        }
    )
    assert isinstance(made, ResourceClaim)
    return made


def facts(known: InUse) -> object:
    return (
        known.devices,
        known.shared,
        {device: {name: str(amount) for name, amount in amounts.items()} for device, amounts in known.capacity.items()},
        known.holders,
        known.by_pool,
    )


@given(claims, st.lists(claims, min_size=1, max_size=3), st.booleans())
@example({0: [(0, "whole", None)]}, [{}], True)
@example({0: [(0, "share", "1")], 1: [(0, "share", "2Gi")]}, [{0: None}, {2: [(0, "whole", None)]}], True)
@example({0: [(0, "share", None)], 1: [(0, "whole", None)]}, [{0: [(0, "whole", None)], 1: [(0, "whole", None)]}], True)
@settings(max_examples=300, deadline=None)
def test_edits_of_claims_revise_what_is_in_use_to_what_they_hold_together(
    before: dict[int, list[Result] | None], steps: list[dict[int, list[Result] | None]], consumable: bool
) -> None:
    rules = release(37, {"DRAConsumableCapacity": consumable})
    view = ClusterView([claim(number, held) for number, held in before.items()], release=rules)
    in_use(view)
    for step in steps:
        edits: list[Edit] = []
        for number in range(6):
            present = view.get(ResourceClaim, f"c{number}", "default")
            if number in step:
                made = claim(number, step[number])
                edits.append(Add(made) if present is None else Replace(made))
            elif present is not None and number % 2:
                edits.append(Delete(present))
        view = view.with_edits(*edits)
        assert facts(in_use(view)) == facts(InUse.of(allocated_claims(view), consumable))


def test_an_edit_that_holds_nothing_leaves_what_is_in_use_the_same_object() -> None:
    view = ClusterView([claim(0, [(0, "whole", None)]), claim(1, None)])
    assert in_use(view.with_edits(Replace(claim(1, None)))) is in_use(view)


def test_a_claim_that_holds_what_it_held_leaves_it_the_same_object_too() -> None:
    view = ClusterView([claim(0, [(0, "whole", None), (1, "share", None)]), claim(1, [(2, "whole", None)])], release=release(37))
    again = view.with_edits(Replace(claim(0, [(0, "whole", None), (1, "share", None)])))
    assert in_use(again) is in_use(view)
    other = again.with_edits(Replace(claim(1, [(3, "whole", None)])))
    assert in_use(other) is not in_use(view)


def test_what_shares_consume_is_summed_and_a_leaving_claim_takes_its_part_away() -> None:
    view = ClusterView([claim(0, [(0, "share", "1")]), claim(1, [(0, "share", "2")])], release=release(37, {"DRAConsumableCapacity": True}))
    left = view.with_edits(Delete(view.all(ResourceClaim)[0]))
    assert [str(amounts["memory"]) for amounts in in_use(view).capacity.values()] == ["3"]
    assert [str(amounts["memory"]) for amounts in in_use(left).capacity.values()] == ["2"]
