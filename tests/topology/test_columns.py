"""Devices column by column: the same whether they were made one by one or not."""

from __future__ import annotations

from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.objects import ResourceSlice
from k8s_topo_mcp.topology.columns import Columns, plain_columns
from k8s_topo_mcp.topology.hardware import hardware
from k8s_topo_mcp.topology.holdings import Holders
from k8s_topo_mcp.topology.spots import Spots
from tests.topology.clusters import Item, claim, device, node, pod, resource_slice, view

NVIDIA = "gpu.nvidia.com"


def held_columns(*claims: Item) -> Columns | None:
    """The columns of three devices that these claims hold; None where they don't say all there is."""
    cluster = view([resource_slice(NVIDIA, "n1", [device(name, {"type": "gpu"}) for name in ("a", "b", "c")]), *claims])
    (entry,) = cluster.all(ResourceSlice)
    holders = Holders(cluster)
    made = plain_columns(
        [Pool(entry.driver, entry.pool, 1, "usable", "", (entry,))], {key: holders.in_pool(key) for key in holders.pools}, Spots()
    )
    return None if made is None else made[0]


def test_plain_columns_stay_so_in_another_order_also_once_a_device_was_looked_at() -> None:
    item = resource_slice("gpu.nvidia.com", "n1", [device(name, {"type": "gpu"}) for name in ("a", "b", "c")])
    (entry,) = view([item]).all(ResourceSlice)
    pool = Pool(entry.driver, entry.pool, 1, "usable", "", (entry,))
    made = plain_columns([pool], {}, Spots())
    assert made is not None
    columns, _ = made
    before = columns.in_order((2, 0, 1))
    devices = columns.devices
    after = columns.in_order((2, 0, 1))
    assert before.plain
    assert after.plain
    assert after.parts == (0, 0, 0)
    assert after.devices == (devices[2], devices[0], devices[1])
    assert [piece.name for piece in after.pieces] == [device.name for device in before.devices] == ["c", "a", "b"]


def test_holds_are_made_from_the_claims_when_a_device_is_looked_at_in_any_order() -> None:
    columns = held_columns(
        pod("p", node="n1"), claim("alive", [(NVIDIA, "n1", "c")], pod="p"), claim("dead", [(NVIDIA, "n1", "a")], pod="q")
    )
    assert columns is not None
    turned = columns.in_order((2, 1, 0))
    for made, names in ((columns, "abc"), (turned, "cba"), (columns.in_order((2, 1, 0)), "cba")):
        found = {
            entry.name: (entry.state, [(hold.holder.claim.name, hold.result.device) for hold in entry.holds]) for entry in made.devices
        }
        assert found == {"a": ("zombie", [("dead", "a")]), "b": ("free", []), "c": ("held", [("alive", "c")])}
        assert "".join(found) == names
        assert list(made.states) == [state for state, _ in found.values()]


def test_columns_do_not_say_all_where_a_device_has_two_holders_or_a_hold_has_no_device() -> None:
    assert held_columns(claim("one", [(NVIDIA, "n1", "a")]), claim("two", [(NVIDIA, "n1", "b")])) is not None
    assert held_columns(claim("one", [(NVIDIA, "n1", "a")]), claim("two", [(NVIDIA, "n1", "a")])) is None
    assert held_columns(claim("one", [(NVIDIA, "n1", "gone")])) is None
    assert held_columns(claim("one", [(NVIDIA, "another", "a")])) is None


def test_what_columns_do_not_say_is_found_all_the_same() -> None:
    twice = [claim("one", [(NVIDIA, "n1", "a")]), claim("two", [(NVIDIA, "n1", "a"), (NVIDIA, "n1", "gone")])]
    facts = hardware(view([node("n1"), resource_slice(NVIDIA, "n1", [device("a", {"type": "gpu"}), device("b", {"type": "gpu"})]), *twice]))
    found = {entry.name: [hold.holder.claim.name for hold in entry.holds] for entry in facts.nodes[0].devices}
    assert found == {"a": ["one", "two"], "b": []}
    assert [str(hold.result.id) for hold in facts.lost] == [f"{NVIDIA}/n1/gone"]
