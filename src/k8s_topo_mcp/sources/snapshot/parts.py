"""What many kinds have in common: metadata, conditions, references, selectors, taints; and how a shape is written."""

from __future__ import annotations

from ...objects.autoscaling import CLASS_ANNOTATION, CONSUME_ANNOTATION, DELAY_ANNOTATION, OLD_CONSUME_ANNOTATION
from ...objects.cluster_api import ANNOTATIONS as MACHINE_GROUP_ANNOTATIONS
from ...objects.cluster_api import OWNER_KIND, OWNER_NAME
from ...objects.compute_domain import NUM_NODES_ANNOTATION
from ...objects.karpenter import DRA_DRIVERS_ANNOTATION
from ...objects.kueue import WORKLOAD_ANNOTATION
from ...objects.storage import SELECTED_NODE_ANNOTATION
from .shape import Fields, Items, Keyed, Labels, Role, Shape, Text, Texts

ANNOTATIONS = frozenset(
    {
        SELECTED_NODE_ANNOTATION,
        NUM_NODES_ANNOTATION,
        CONSUME_ANNOTATION,
        OLD_CONSUME_ANNOTATION,
        DELAY_ANNOTATION,
        "volume.beta.kubernetes.io/storage-class",
        "pv.kubernetes.io/bind-completed",
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
        OWNER_KIND,
        OWNER_NAME,
        DRA_DRIVERS_ANNOTATION,
        CLASS_ANNOTATION,
        WORKLOAD_ANNOTATION,
        *MACHINE_GROUP_ANNOTATIONS,
    }
)
"""The annotations that a rule reads."""

PLAIN, MESSAGE, UID, DRIVER = Text(), Text("message"), Text("uid"), Text("term")
LABELS, AMOUNTS, EMPTY = Labels(), Keyed(PLAIN), Fields()


def of(plain: str = "", /, **shaped: Shape) -> Fields:
    """Fields of vocabulary, by name, and those with a shape of their own."""
    return Fields({**dict.fromkeys(plain.split(), PLAIN), **shaped})


def named(kind: str, role: Role = "name") -> Text:
    """The name of an object of that kind."""
    return Text(role, detail=kind)


NODE, NAMESPACE = Text("node"), Text("namespace")
_OWNER = of("apiVersion kind controller", name=Text("name", key="kind"), uid=UID)
REFERENCE = of("kind", name=Text("name", key="kind"), namespace=NAMESPACE, uid=UID, fieldPath=PLAIN)
_CONDITION = of("type status reason lastTransitionTime lastHeartbeatTime lastProbeTime", message=MESSAGE)
CONDITIONS = Items(_CONDITION)
REQUIREMENT = of("key operator", values=Texts("label", key="key"))
TERM = of(matchExpressions=Items(REQUIREMENT), matchFields=Items(of("key operator", values=Texts("node"))))
NODE_SELECTOR = of(nodeSelectorTerms=Items(TERM))
LABEL_SELECTOR = of(matchLabels=LABELS, matchExpressions=Items(REQUIREMENT))
TAINT = of("key effect timeAdded", value=Text("label", key="key"))
TOLERATION = of("key operator effect tolerationSeconds", value=Text("label", key="key"))
RESOURCES = of(limits=AMOUNTS, requests=AMOUNTS)


_WRITTEN = dict.fromkeys(("f:spec", "f:value", "f:globalDefault", "f:preemptionPolicy", "f:description"), EMPTY)
WRITES = Items(
    of(
        "time subresource",
        manager=Text("identity"),
        fieldsV1=Fields({**_WRITTEN, "f:metadata": Fields({"f:labels": EMPTY, "f:finalizers": EMPTY})}),
    )
)
READ_WRITES = frozenset(
    {"Node", "ResourceSlice", "DeviceClass", "DeviceTaintRule", "ResourceQuota", "LimitRange", "PriorityClass", "DaemonSet", "NodePool"}
)
"""Kinds of which `decode_metadata` reads the managed fields."""


def metadata_of(name: Text, *, namespaced: bool) -> Fields:
    """ObjectMeta, with the object's own name."""
    shape = of(
        "resourceVersion generation creationTimestamp deletionTimestamp",
        name=name, uid=UID, labels=LABELS, annotations=Labels(ANNOTATIONS), ownerReferences=Items(_OWNER), finalizers=Texts(),
    )  # fmt: skip
    return Fields({**shape.fields, "namespace": NAMESPACE}) if namespaced else shape
