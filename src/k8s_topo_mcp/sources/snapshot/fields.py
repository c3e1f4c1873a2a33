"""The fields of each kind that the decoders in `objects/` read: all that a snapshot of ours holds.

Not in here, hence never written: environment, arguments, commands (but known flags and two variables of node autoscalers), images (but
those of DaemonSets, by which a driver is recognised, and of node autoscalers), probes, annotations (but those that a rule reads), managed
fields (but who wrote which part when, of kinds that have no other sign of a change), what a program said when it ended, opaque device
configuration, and every kind that isn't decoded: secrets, config maps (but Cluster Autoscaler's status, by its name), service accounts,
RBAC objects. A test holds this table against the decoders.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...objects import CONFIG_MAP, CUSTOM_KINDS, KINDS, entry_of, group_of
from ...objects.autoscaling import PARAMETERS
from ...objects.kueue import POD_SET_LABEL
from .device_fields import CLAIM_SPEC, CLAIM_STATUS, CONFIG, SELECTORS, SLICE, TAINT_RULE
from .owner_fields import CUSTOM, GROUP_SPEC, GROUP_STATUS, JOB, OWNER_STATUS, REPLICATED, STATEFUL, WORKLOAD
from .parts import (
    AMOUNTS,
    CONDITIONS,
    DRIVER,
    EMPTY,
    LABEL_SELECTOR,
    LABELS,
    MESSAGE,
    NAMESPACE,
    NODE,
    NODE_SELECTOR,
    PLAIN,
    READ_WRITES,
    REFERENCE,
    REQUIREMENT,
    TAINT,
    TOLERATION,
    WRITES,
    metadata_of,
    named,
    of,
)
from .pod_fields import CLAIM_REQUEST, IMAGED, MOUNTED, POD_STATUS, RECOGNISED, TEMPLATE, pod_spec, pod_template
from .shape import Domains, Fields, Items, Keyed, Labels, Rewrite, Shape, Text, Texts, as_is, copied

_EVENT = of(
    "eventTime firstTimestamp lastTimestamp deprecatedFirstTimestamp deprecatedLastTimestamp type reason reportingComponent"
    " reportingController action count deprecatedCount",
    involvedObject=REFERENCE, regarding=REFERENCE, series=of("lastObservedTime count"), message=MESSAGE, note=MESSAGE,
    source=of("component"), deprecatedSource=of("component"),
)  # fmt: skip
_VOLUME_SPEC = Fields(
    {
        **of(
            "volumeMode",
            capacity=AMOUNTS, accessModes=Texts(), claimRef=REFERENCE, nodeAffinity=of(required=NODE_SELECTOR),
            storageClassName=named("StorageClass", "cluster scoped"),
            volumeAttributesClassName=named("VolumeAttributesClass", "cluster scoped"), csi=of(driver=DRIVER, volumeHandle=Text("handle")),
        ).fields,
    },
    others=True,
)  # fmt: skip
_QUEUE_STATUS = of(conditions=CONDITIONS)
_DAEMON = of(name=NODE, nodeName=NODE, cliqueID=Text("identity"), status=PLAIN)
_COLUMN = of("universal", individual=of("prefix suffix", roots=Texts()))
_POD_SET = of(
    "delayedTopologyRequest",
    name=Text("label", detail=POD_SET_LABEL),
    topologyAssignment=Domains(
        of(
            levels=Texts(), domains=Items(of("count", values=Texts("label"))),
            slices=Items(of("domainCount", valuesPerLevel=Items(_COLUMN), podCounts=of("universal", individual=Texts()))),
        )
    ),
)  # fmt: skip
_CLUSTER_QUEUE = named("ClusterQueue", "cluster scoped")
_NODE_STATUS = of(
    allocatable=AMOUNTS, capacity=AMOUNTS, conditions=CONDITIONS, nodeInfo=of("kubeletVersion architecture operatingSystem"),
    declaredFeatures=Texts(),
)  # fmt: skip
_QUOTA = of(
    hard=AMOUNTS, scopes=Texts(),
    scopeSelector=of(matchExpressions=Items(of("scopeName operator", values=Texts("cluster scoped", detail="PriorityClass")))),
)  # fmt: skip
_NODE_CLAIM = of(
    requirements=Items(of("key operator minValues", values=Texts("label", key="key"))),
    taints=Items(TAINT), startupTaints=Items(TAINT), nodeClassRef=of("kind", name=named("NodeClass", "cluster scoped")),
)  # fmt: skip
_POLICIES = of("type", max=AMOUNTS, min=AMOUNTS, default=AMOUNTS, defaultRequest=AMOUNTS)

_PARTS: Mapping[tuple[str, str], Mapping[str, Shape]] = {
    ("", "Pod"): {"spec": pod_spec(), "status": POD_STATUS},
    ("", "Node"): {
        "spec": of(
            "unschedulable", taints=Items(TAINT), providerID=Text("provider"), podPreemptionPolicy=of(disableResizePreemption=Texts())
        ),
        "status": _NODE_STATUS,
    },
    ("", "Event"): _EVENT.fields,
    ("events.k8s.io", "Event"): _EVENT.fields,
    ("", "Namespace"): {"status": of("phase", conditions=CONDITIONS)},
    ("", "PersistentVolumeClaim"): {"spec": CLAIM_REQUEST, "status": of("phase", conditions=CONDITIONS)},
    ("", "PersistentVolume"): {"spec": _VOLUME_SPEC, "status": of("phase reason", message=MESSAGE)},
    ("", "ResourceQuota"): {"spec": _QUOTA, "status": of(hard=AMOUNTS, used=AMOUNTS)},
    ("", "LimitRange"): {"spec": of(limits=Items(_POLICIES))},
    ("", "ReplicationController"): {"spec": of("replicas", selector=LABELS, template=TEMPLATE), "status": OWNER_STATUS},
    ("apps", "Deployment"): {
        "spec": of("replicas", selector=LABEL_SELECTOR, template=pod_template(RECOGNISED)),
        "status": OWNER_STATUS,
    },
    ("apps", "ReplicaSet"): {"spec": REPLICATED, "status": OWNER_STATUS},
    ("apps", "StatefulSet"): {"spec": STATEFUL, "status": OWNER_STATUS},
    ("apps", "DaemonSet"): {"spec": of(selector=LABEL_SELECTOR, template=pod_template(IMAGED, MOUNTED)), "status": OWNER_STATUS},
    ("batch", "Job"): {"spec": JOB, "status": OWNER_STATUS},
    ("batch", "CronJob"): {"spec": of("suspend", jobTemplate=of(spec=JOB)), "status": of(active=Items(EMPTY))},
    ("policy", "PodDisruptionBudget"): {
        "spec": of(selector=LABEL_SELECTOR),
        "status": of("disruptionsAllowed currentHealthy desiredHealthy", disruptedPods=Keyed(PLAIN, key="name")),
    },
    ("coordination.k8s.io", "Lease"): {"spec": of("leaseDurationSeconds acquireTime renewTime", holderIdentity=Text("holder"))},
    ("storage.k8s.io", "StorageClass"): of(
        "volumeBindingMode", provisioner=DRIVER, allowedTopologies=Items(of(matchLabelExpressions=Items(REQUIREMENT)))
    ).fields,
    ("storage.k8s.io", "CSINode"): {"spec": of(drivers=Items(of("name", topologyKeys=Texts(), allocatable=of("count"))))},
    ("storage.k8s.io", "CSIDriver"): {"spec": of("attachRequired storageCapacity preventPodSchedulingIfMissing")},
    ("storage.k8s.io", "CSIStorageCapacity"): of(
        "capacity maximumVolumeSize", storageClassName=named("StorageClass", "cluster scoped"), nodeTopology=LABEL_SELECTOR
    ).fields,
    ("storage.k8s.io", "VolumeAttachment"): {
        "spec": of(attacher=DRIVER, nodeName=NODE, source=of(persistentVolumeName=named("PersistentVolume"))),
        "status": of("attached", attachError=of(message=MESSAGE)),
    },
    ("scheduling.k8s.io", "PriorityClass"): of("value globalDefault preemptionPolicy").fields,
    ("scheduling.k8s.io", "PodGroup"): {"spec": GROUP_SPEC, "status": GROUP_STATUS},
    ("scheduling.k8s.io", "CompositePodGroup"): {"spec": GROUP_SPEC, "status": GROUP_STATUS},
    ("scheduling.k8s.io", "Workload"): {"spec": WORKLOAD},
    ("resource.k8s.io", "ResourceSlice"): {"spec": SLICE},
    ("resource.k8s.io", "ResourceClaim"): {"spec": CLAIM_SPEC, "status": CLAIM_STATUS},
    ("resource.k8s.io", "ResourceClaimTemplate"): {"spec": of(spec=CLAIM_SPEC)},
    ("resource.k8s.io", "DeviceClass"): {"spec": of("extendedResourceName", selectors=SELECTORS, config=CONFIG)},
    ("resource.k8s.io", "DeviceTaintRule"): {"spec": TAINT_RULE, "status": of(conditions=CONDITIONS)},
    ("kueue.x-k8s.io", "Workload"): {
        "spec": of("active", queueName=named("LocalQueue")),
        "status": of(
            admission=of(clusterQueue=_CLUSTER_QUEUE, podSetAssignments=Items(_POD_SET)), conditions=CONDITIONS,
            admissionChecks=Items(of("state", name=named("AdmissionCheck", "cluster scoped"), message=MESSAGE)),
            unhealthyNodes=Items(of(name=NODE)),
        ),
    },
    ("kueue.x-k8s.io", "LocalQueue"): {"spec": of("stopPolicy", clusterQueue=_CLUSTER_QUEUE), "status": _QUEUE_STATUS},
    ("kueue.x-k8s.io", "ClusterQueue"): {"spec": of("stopPolicy"), "status": _QUEUE_STATUS},
    ("kueue.x-k8s.io", "ResourceFlavor"): {
        "spec": of(
            nodeLabels=LABELS, nodeTaints=Items(TAINT), tolerations=Items(TOLERATION), topologyName=named("Topology", "cluster scoped")
        )
    },
    ("kueue.x-k8s.io", "Topology"): {"spec": of(levels=Items(of("nodeLabel")))},
    ("autoscaling.x-k8s.io", "ProvisioningRequest"): {
        "spec": of(
            provisioningClassName=DRIVER, podSets=Items(of("count", podTemplateRef=of(name=named("PodTemplate")))),
            parameters=Labels(frozenset(PARAMETERS)),
        ),
        "status": of(conditions=CONDITIONS),
    },
    ("autoscaling.x-k8s.io", "CapacityBuffer"): {
        "spec": of(
            "replicas percentage",
            provisioningStrategy=DRIVER, podTemplateRef=of(name=named("PodTemplate")),
            scalableRef=of("kind", name=Text("name", key="kind")), limits=AMOUNTS,
        ),
        "status": of("replicas", conditions=CONDITIONS),
    },
    ("karpenter.sh", "NodePool"): {
        "spec": of(
            "weight replicas",
            template=of(metadata=of(labels=LABELS), spec=_NODE_CLAIM), limits=AMOUNTS,
        ),
        "status": of("nodes", resources=AMOUNTS, conditions=CONDITIONS),
    },
    ("karpenter.sh", "NodeClaim"): {
        "spec": Fields({**_NODE_CLAIM.fields, "resources": of(requests=AMOUNTS)}),
        "status": of(nodeName=NODE, providerID=Text("provider"), capacity=AMOUNTS, allocatable=AMOUNTS, conditions=CONDITIONS),
    },
    ("karpenter.sh", "NodeOverlay"): {
        "spec": of("weight", requirements=Items(REQUIREMENT), capacity=AMOUNTS),
        "status": of(conditions=CONDITIONS),
    },
    **{
        ("cluster.x-k8s.io", kind): {
            "spec": of(
                "replicas",
                clusterName=named("Cluster"),
                template=of(metadata=of(labels=LABELS), spec=of(taints=Items(TAINT), failureDomain=Text("label"))),
            ),
            "status": of("readyReplicas"),
        }
        for kind in ("MachineDeployment", "MachineSet", "MachinePool")
    },
    ("inference.networking.k8s.io", "InferencePool"): {"spec": of(selector=LABEL_SELECTOR)},
    ("inference.networking.x-k8s.io", "InferencePool"): {"spec": of(selector=LABELS)},
    ("resource.nvidia.com", "ComputeDomain"): {
        "spec": of("numNodes", channel=of(resourceClaimTemplate=of(name=named("ResourceClaimTemplate")))),
        "status": of("status", nodes=Items(_DAEMON)),
    },
    ("resource.nvidia.com", "ComputeDomainClique"): {"daemons": Items(_DAEMON)},
    **{kind: {"spec": CUSTOM, "status": of("readyReplicas", conditions=CONDITIONS)} for kind in CUSTOM_KINDS},
}  # fmt: skip

_OWN_NAMES: Mapping[str, Text] = {
    "Node": NODE, "CSINode": NODE, "Namespace": NAMESPACE, "DeviceClass": DRIVER, "CSIDriver": DRIVER,
    **dict.fromkeys(
        (
            "PriorityClass", "StorageClass", "ClusterQueue", "Topology", "DeviceTaintRule", "ResourceSlice", "NodePool", "NodeClaim",
            "NodeOverlay", "ResourceFlavor",
        ),
        Text("cluster scoped", key="", detail=""),
    ),
}  # fmt: skip


def _shape(group: str, kind: str) -> Fields:
    namespaced = KINDS[group, kind].type.NAMESPACED
    name = _OWN_NAMES.get(kind, named(kind))
    if name.role == "cluster scoped":
        name = named(kind, "cluster scoped")
    metadata = metadata_of(name, namespaced=namespaced)
    if kind in READ_WRITES:
        metadata = Fields({**metadata.fields, "managedFields": WRITES})
    return Fields({"apiVersion": PLAIN, "kind": PLAIN, "metadata": metadata, **_PARTS[group, kind]})


KEPT: Mapping[tuple[str, str], Fields] = {key: _shape(*key) for key in KINDS}
"""The shape of every kind that is read."""

AUTOSCALER_STATUS = Fields(
    {
        "apiVersion": PLAIN,
        "kind": PLAIN,
        "metadata": metadata_of(PLAIN, namespaced=True),
        "data": Fields({"status": Text("status")}),
    }
)
"""Of the one ConfigMap that is read."""


def kept(item: Mapping[str, Any], rewrite: Rewrite = as_is) -> dict[str, Any] | None:
    """What a snapshot holds of an object, None for a kind that it doesn't hold."""
    version, kind = item.get("apiVersion"), item.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return None
    group = group_of(version)
    if entry_of(group, kind, item) is None:
        return None
    return copied(item, AUTOSCALER_STATUS if (group, kind) == CONFIG_MAP else KEPT[group, kind], rewrite)
