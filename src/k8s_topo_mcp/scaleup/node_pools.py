"""Karpenter's NodePools: one template for each instance type that a pool could choose and that is known.

Instance types are no API objects. What is known of one: live nodes of the pool; an InstanceTypes file; live nodes of the same type
elsewhere, under the pool's own labels and taints; the catalogue, where the pool's requirements name a type or a family of it; and its
NodeClaims that were launched, which have amounts. Labels that a pool leaves open (a zone among several, spot or on-demand) are
unpredictable. NodeOverlays add capacity (pkg/controllers/nodeoverlay; gate NodeOverlay, off unless told otherwise: the fact says so).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..objects import Condition, DaemonSet, Metadata, Node, NodeClaim, NodeOverlay, NodePool, Requirement, Resources
from ..objects.karpenter import CAPACITY_TYPE_LABEL, NODE_POOL_LABEL
from ..objects.node import HOSTNAME, INSTANCE_TYPE
from ..view import ClusterView
from .daemons import daemons_on
from .karpenter_labels import well_known_asked
from .labelled import limit_of_nodes
from .node_group import NodeGroup
from .sanitised import ZONE, sanitised
from .shapes import catalogue, names, shape
from .template import Fact, NodeTemplate, newer

_CHOOSING = (INSTANCE_TYPE, "karpenter.k8s.aws/instance-family", "karpenter.azure.com/sku-name", "cloud.google.com/gke-accelerator")
"""Labels by which a pool names machines so narrowly that the catalogue's can be told."""
_MOST_TYPES = 64
ARCHITECTURE = "kubernetes.io/arch"
_ALIASES = {"karpenter.azure.com/sku-name": INSTANCE_TYPE}


def nodes_of_pools(view: ClusterView) -> Mapping[str, tuple[Node, ...]]:
    """Nodes by their NodePool."""
    return view.index(Node, _pool_of_node)


def _pool_of_node(node: Node) -> Iterable[str]:
    if NODE_POOL_LABEL in node.metadata.labels:
        yield node.metadata.labels[NODE_POOL_LABEL]


def _type(node: Node) -> Iterable[str]:
    if INSTANCE_TYPE in node.metadata.labels:
        yield node.metadata.labels[INSTANCE_TYPE]


def claims_of_pools(view: ClusterView) -> Mapping[str, tuple[NodeClaim, ...]]:
    """NodeClaims by the NodePool that made them."""
    return view.index(NodeClaim, _pool_of_claim)


def _pool_of_claim(claim: NodeClaim) -> Iterable[str]:
    if claim.node_pool:
        yield claim.node_pool


def node_pools(view: ClusterView, types: Mapping[str, NodeTemplate] | None = None) -> tuple[NodeGroup, ...]:
    """
    All NodePools.

    Parameters
    ----------
    types
        Instance types by name, as a file describes them.
    """
    return tuple(_group(view, pool, types or {}) for pool in view.all(NodePool))


def _group(view: ClusterView, pool: NodePool, types: Mapping[str, NodeTemplate]) -> NodeGroup:
    members = nodes_of_pools(view).get(pool.name, ())
    templates = tuple(_overlaid(view, template) for template in _templates(view, pool, members, types))
    why = ""
    if not templates:
        why = (
            f"{pool.ref} has no node, and names no instance type that is known: its instance types are no API objects; "
            "describe them in a file (kind InstanceTypes)"
        )
    claims = len(claims_of_pools(view).get(pool.name, ()))
    size = pool.replicas if pool.replicas is not None else claims or pool.nodes or len(members)
    most = pool.replicas if pool.replicas is not None else limit_of_nodes(dict(pool.limits))
    return NodeGroup(pool.name, "Karpenter NodePool", templates, members, size, None, most, dict(pool.limits), ref=pool.ref, why_none=why)


def _templates(view: ClusterView, pool: NodePool, members: Sequence[Node], types: Mapping[str, NodeTemplate]) -> Iterable[NodeTemplate]:
    own: dict[str, list[Node]] = {}
    for node in members:
        own.setdefault(node.metadata.labels.get(INSTANCE_TYPE, ""), []).append(node)
    live = view.index(Node, _type)
    claims = {kind: claim for claim in claims_of_pools(view).get(pool.name, ()) if claim.allocatable and (kind := _type_of(claim))}
    wanted = _wanted(pool)
    described = (name for name in types if _allows(pool, types[name].node.metadata.labels))
    # A pool's requirements may have changed since: what it makes now is what counts.
    candidates = [name for name in dict.fromkeys((*own, *wanted, *claims, *described)) if not name or _allows(pool, {INSTANCE_TYPE: name})]
    for name in candidates[:_MOST_TYPES]:
        if name in own:
            yield _of_pool(view, pool, sanitised(view, f"{pool.name} {name}".strip(), own[name]))
        else:
            moved = name not in types and name in live
            found = types.get(name) or (sanitised(view, f"{pool.name} {name}", live[name]) if moved else None)
            if found is None and name in catalogue()["shapes"]:
                found = shape(name)
            if name in claims:
                found = _as_launched(claims[name], found, name)
            # An instance type has one architecture, which no pool chooses.
            if found is not None and _allows(pool, {ARCHITECTURE: found.node.metadata.labels.get(ARCHITECTURE, "<unknown>")}):
                yield _of_pool(view, pool, found, moved)


def _type_of(claim: NodeClaim) -> str:
    return claim.metadata.labels.get(INSTANCE_TYPE, "")


def _as_launched(claim: NodeClaim, known: NodeTemplate | None, name: str) -> NodeTemplate:
    """With the amounts that a claim for such a node has got; of an instance type that nothing else tells, with these alone."""
    source = Fact("allocatable", str(claim.ref), "observed")
    if known is None:
        labels = {key: value for key, value in claim.metadata.labels.items() if key.startswith(("kubernetes.io/", "node.kubernetes.io/"))}
        node_name = f"new-{claim.name}"
        node = Node(
            Metadata(node_name, labels={**labels, HOSTNAME: node_name}),
            allocatable=claim.allocatable,
            capacity=claim.capacity,
            conditions=(Condition("Ready", "True"),),
            architecture=labels.get("kubernetes.io/arch", ""),
            operating_system=labels.get("kubernetes.io/os", ""),
        )
        facts = (Fact("labels", str(claim.ref), "observed"), source, Fact("devices", f"{claim.ref} says nothing of devices", "observed"))
        return NodeTemplate(name, node, (), (), False, frozenset({HOSTNAME, ZONE}), facts)
    node = replace(known.node, allocatable=claim.allocatable, capacity=claim.capacity)
    kept = tuple(fact for fact in known.facts if not fact.part.startswith("allocatable"))
    return replace(known, node=node, facts=(*kept, source), amounts_unknown=frozenset())


def _wanted(pool: NodePool) -> tuple[str, ...]:
    """Instance types that a pool's requirements name, themselves or by a family of the catalogue."""
    listed = [
        value for entry in pool.spec.requirements if _key(entry) == INSTANCE_TYPE and entry.operator == "In" for value in entry.values
    ]
    if not any(_key(entry) in _CHOOSING and entry.operator == "In" for entry in pool.spec.requirements):
        return tuple(listed)
    shapes: Mapping[str, Mapping[str, Mapping[str, str]]] = catalogue()["shapes"]
    fitting = [name for name in names() if name not in listed and _allows(pool, shapes[name]["labels"] or {}, named=True)]
    return (*listed, *fitting)


def _key(requirement: Requirement) -> str:
    """The label that a requirement is about, by the key of today."""
    key = newer(requirement.key)
    return _ALIASES.get(key, key)


def _allows(pool: NodePool, labels: Mapping[str, str], named: bool = False) -> bool:
    """Whether no requirement speaks against a machine with these labels. `named`: one must speak for it, too."""
    known = {key: value for key, value in labels.items() if not value.startswith("<")}
    about = [entry for entry in pool.spec.requirements if _key(entry) in known]
    if not all(replace(entry, key=_key(entry)).holds(known) for entry in about):
        return False
    return not named or any(_key(entry) in _CHOOSING and entry.operator == "In" for entry in about)


def _of_pool(view: ClusterView, pool: NodePool, template: NodeTemplate, moved: bool = False) -> NodeTemplate:
    """The template under the pool's labels, requirements and taints. `moved`: it is of nodes of another pool."""
    node, source = template.node, str(pool.ref)
    labels, unpredictable = dict(node.metadata.labels), set(template.unpredictable)
    if moved:
        unpredictable |= {key for key in labels if key in (ZONE, CAPACITY_TYPE_LABEL)}
        labels = {key: value for key, value in labels.items() if key not in (ZONE, CAPACITY_TYPE_LABEL)}
    for requirement in pool.spec.requirements:
        key = _key(requirement)
        if key in labels and key != HOSTNAME and requirement.operator == "In" and labels[key] in requirement.values:
            if len(requirement.values) > 1 and key in (ZONE, CAPACITY_TYPE_LABEL):
                del labels[key]
                unpredictable.add(key)
            continue
        if requirement.operator == "In" and len(requirement.values) == 1:
            labels[key] = requirement.values[0]
            unpredictable.discard(key)
        elif key not in labels and requirement.operator in ("In", "Exists"):
            unpredictable.add(key)
    own = {newer(key): value for key, value in pool.spec.labels.items()} | {NODE_POOL_LABEL: pool.name}
    labels |= own
    unpredictable |= well_known_asked(view) - labels.keys()
    unpredictable -= own.keys()
    node = replace(node, metadata=replace(node.metadata, labels=labels), taints=pool.spec.taints)
    facts = [fact for fact in template.facts if fact.part not in ("taints", "daemons")]
    facts += [Fact("labels of the pool", source, "declared"), Fact("taints", source, "declared")]
    name = template.name if template.name.startswith(pool.name) else f"{pool.name} {template.name}"
    made = replace(template, name=name, node=node, unpredictable=frozenset(unpredictable))
    daemons = daemons_on(view, made.node) if view.count(DaemonSet) else template.daemons
    if daemons:
        facts.append(Fact("daemons", "the cluster's DaemonSets", "declared"))
    return replace(made, daemons=daemons, facts=tuple(facts))


def _overlaid(view: ClusterView, template: NodeTemplate) -> NodeTemplate:
    """With what NodeOverlays add, the heaviest for each resource. Resources that Kubernetes itself knows aren't touched."""
    labels = template.node.metadata.labels
    added: dict[str, Resources] = {}
    facts: list[Fact] = []
    for overlay in sorted(view.all(NodeOverlay), key=lambda entry: (entry.weight, entry.name)):
        if overlay.capacity and all(requirement.holds(labels) for requirement in overlay.requirements):
            for resource in overlay.capacity:
                if "/" in resource:
                    added[resource] = overlay.capacity
            facts.append(Fact("capacity added", f"{overlay.ref} (needs Karpenter's gate NodeOverlay)", "declared"))
    if not added:
        return template
    amounts = {**template.node.allocatable, **{resource: given[resource] for resource, given in added.items()}}
    node = replace(template.node, allocatable=amounts, capacity={**template.node.capacity, **amounts})
    return replace(template, node=node, facts=(*template.facts, *facts))
