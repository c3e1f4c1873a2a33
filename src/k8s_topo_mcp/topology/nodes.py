"""What is known of the cluster's hardware: nodes with their devices, devices of no one node, and all of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.objects.node import Node
from k8s_topo_mcp.objects.record import record

from ..scaleup.group_labels import Group
from .columns import Columns
from .domains import Whereabouts
from .frames import Frame, Layout
from .holdings import Hold
from .joins import Kind
from .placed import PlacedDevice, Tally
from .plugin import PluginResource


@record(weakref_slot=True)
class NodeHardware:
    """One node. `node` is None when slices name a node that isn't there; `model` is its machine type ("" when nobody labelled it); `closed`
    says why nothing new starts on it ("" when open).

    `frame` and `layout` are those of its devices. `groups` are node groups. `accelerators` sums the tallies of all accelerators. `told`:
    slices could be read, so that a node without devices has none.
    """

    name: str
    node: Node | None
    model: str
    where: Whereabouts
    groups: tuple[Group, ...]
    columns: Columns
    plugin: tuple[PluginResource, ...]
    closed: str
    frame: Frame
    layout: Layout
    tallies: Mapping[Kind, Tally]
    accelerators: Tally
    told: bool = True

    @property
    def devices(self) -> tuple[PlacedDevice, ...]:
        """The devices that it has to itself, by role and kind; to count or list many nodes, `columns` take less."""
        return self.columns.devices

    @property
    def places(self) -> Mapping[str, str]:
        """Where it stands, coarse to fine; a level that isn't there isn't known."""
        return self.where.places


@record()
class Unbound:
    """Devices of one pool that aren't bound to one node: `nodes` can use them."""

    pool: Pool
    nodes: tuple[str, ...]
    devices: tuple[PlacedDevice, ...]


@record()
class Hardware:
    """All of it; nodes by name. `levels` are the places that nodes have, coarse to fine (see `domains`). `superseded` counts devices in
    slices that a newer generation replaced, `unseen` those in slices that no node can use (no node matches, or a feature is off), `lost`
    lists holds on devices that no slice has."""

    nodes: tuple[NodeHardware, ...]
    unbound: tuple[Unbound, ...]
    superseded: int
    unseen: int
    lost: tuple[Hold, ...]
    levels: tuple[str, ...] = ()

    def node(self, name: str) -> NodeHardware | None:
        """The node of that name."""
        at = bisect_left(self.nodes, name, key=lambda entry: entry.name)
        return self.nodes[at] if at < len(self.nodes) and self.nodes[at].name == name else None
