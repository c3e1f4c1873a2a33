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
from ...objects.autoscaler_program import kept_command, kept_variables, program_of
from ...objects.autoscaling import CLASS_ANNOTATION, CONSUME_ANNOTATION, DELAY_ANNOTATION, OLD_CONSUME_ANNOTATION, PARAMETERS
from ...objects.cluster_api import ANNOTATIONS as MACHINE_GROUP_ANNOTATIONS
from ...objects.cluster_api import OWNER_KIND, OWNER_NAME
from ...objects.compute_domain import NUM_NODES_ANNOTATION
from ...objects.karpenter import DRA_DRIVERS_ANNOTATION
from ...objects.storage import SELECTED_NODE_ANNOTATION
from .shape import (
    Attributes,
    Either,
    Fields,
    Flags,
    Items,
    Keyed,
    Labels,
    Rewrite,
    Role,
    Shape,
    Text,
    Texts,
    Variables,
    Where,
    as_is,
    copied,
)

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
        *MACHINE_GROUP_ANNOTATIONS,
    }
)
"""The annotations that a rule reads."""

_P, _MESSAGE, _UID, _DRIVER = Text(), Text("message"), Text("uid"), Text("term")
_LABELS, _AMOUNTS, _EMPTY = Labels(), Keyed(_P), Fields()


def _f(plain: str = "", /, **named: Shape) -> Fields:
    """Fields of vocabulary, by name, and those with a shape of their own."""
    return Fields({**dict.fromkeys(plain.split(), _P), **named})


def _name(kind: str, role: Role = "name") -> Text:
    return Text(role, detail=kind)


_NODE, _NAMESPACE = Text("node"), Text("namespace")
_OWNER = _f("apiVersion kind controller", name=Text("name", key="kind"), uid=_UID)
_REFERENCE = _f("kind", name=Text("name", key="kind"), namespace=_NAMESPACE, uid=_UID, fieldPath=_P)
_CONDITION = _f("type status reason lastTransitionTime lastHeartbeatTime lastProbeTime", message=_MESSAGE)
_CONDITIONS = Items(_CONDITION)
_REQUIREMENT = _f("key operator", values=Texts("label", key="key"))
_TERM = _f(matchExpressions=Items(_REQUIREMENT), matchFields=Items(_f("key operator", values=Texts("node"))))
_NODE_SELECTOR = _f(nodeSelectorTerms=Items(_TERM))
_LABEL_SELECTOR = _f(matchLabels=_LABELS, matchExpressions=Items(_REQUIREMENT))
_TAINT = _f("key effect timeAdded", value=Text("label", key="key"))
_TOLERATION = _f("key operator effect tolerationSeconds", value=Text("label", key="key"))
_RESOURCES = _f(limits=_AMOUNTS, requests=_AMOUNTS)


_WRITTEN = dict.fromkeys(("f:spec", "f:value", "f:globalDefault", "f:preemptionPolicy", "f:description"), _EMPTY)
_WRITES = Items(
    _f(
        "time subresource",
        manager=Text("identity"),
        fieldsV1=Fields({**_WRITTEN, "f:metadata": Fields({"f:labels": _EMPTY, "f:finalizers": _EMPTY})}),
    )
)
_READ_WRITES = frozenset(
    {"Node", "ResourceSlice", "DeviceClass", "DeviceTaintRule", "ResourceQuota", "LimitRange", "PriorityClass", "DaemonSet", "NodePool"}
)
"""Kinds of which `decode_metadata` reads the managed fields."""


def _metadata(name: Text, *, namespaced: bool) -> Fields:
    shape = _f(
        "resourceVersion generation creationTimestamp deletionTimestamp",
        name=name, uid=_UID, labels=_LABELS, annotations=Labels(ANNOTATIONS), ownerReferences=Items(_OWNER), finalizers=Texts(),
    )  # fmt: skip
    return Fields({**shape.fields, "namespace": _NAMESPACE}) if namespaced else shape


# --- pods -------------------------------------------------------------------------------------------------------------------------

_POD_TERM = _f(
    "topologyKey",
    labelSelector=_LABEL_SELECTOR, namespaces=Texts("namespace"), namespaceSelector=_LABEL_SELECTOR,
    matchLabelKeys=Texts(), mismatchLabelKeys=Texts(),
)  # fmt: skip
_REQUIRED, _PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
_POD_AFFINITY = Fields({_REQUIRED: Items(_POD_TERM), _PREFERRED: Items(_f("weight", podAffinityTerm=_POD_TERM))})
_AFFINITY = _f(
    nodeAffinity=Fields({_REQUIRED: _NODE_SELECTOR, _PREFERRED: Items(_f("weight", preference=_TERM))}),
    podAffinity=_POD_AFFINITY,
    podAntiAffinity=_POD_AFFINITY,
)
_SPREAD = _f(
    "maxSkew topologyKey whenUnsatisfiable minDomains nodeAffinityPolicy nodeTaintsPolicy",
    labelSelector=_LABEL_SELECTOR, matchLabelKeys=Texts(),
)  # fmt: skip
_CLAIM_REQUEST = _f(
    "volumeMode",
    storageClassName=_name("StorageClass", "cluster scoped"), volumeAttributesClassName=_name("VolumeAttributesClass", "cluster scoped"),
    accessModes=Texts(), resources=_f(requests=_AMOUNTS), selector=_LABEL_SELECTOR, volumeName=_name("PersistentVolume"),
)  # fmt: skip
_CONTAINER = _f(
    "restartPolicy",
    name=Text("container"),
    resources=_f(limits=_AMOUNTS, requests=_AMOUNTS, claims=Items(_f(name=Text("request"), request=Text("request")))),
    ports=Items(_f("hostPort containerPort protocol", hostIP=Text("address"))),
    restartPolicyRules=Items(_f("action")),
    volumeMounts=Items(_f(bindMountOptions=Texts()), worth=frozenset()),
)
_IMAGED = Fields({**_CONTAINER.fields, "image": Text("image")})
_WORDS = Flags(kept_command)
_AUTOSCALER = Fields({**_IMAGED.fields, "command": _WORDS, "args": _WORDS, "env": Variables(kept_variables)})
_RECOGNISED = Where(program_of, _AUTOSCALER, _CONTAINER)
_DISK = _f("readOnly", **dict.fromkeys(("pdName", "volumeID", "diskName", "iqn"), Text("handle")))
_VOLUME = _f(
    name=Text("volume"),
    persistentVolumeClaim=_f("readOnly", claimName=_name("PersistentVolumeClaim")),
    csi=_f("readOnly", driver=_DRIVER),
    ephemeral=_f(volumeClaimTemplate=_f(spec=_CLAIM_REQUEST)),
    gcePersistentDisk=_DISK, awsElasticBlockStore=_DISK, azureDisk=_DISK, cinder=_DISK, iscsi=_DISK,
    rbd=_f("readOnly", pool=Text("handle"), image=Text("handle"), monitors=Texts("host")),
)  # fmt: skip
_MOUNTED = Fields({**_VOLUME.fields, "hostPath": _f(path=Text("path"))})
_POD_CLAIM = _f(
    name=Text("request"), resourceClaimName=_name("ResourceClaim"), resourceClaimTemplateName=_name("ResourceClaimTemplate"),
)  # fmt: skip


def _pod_spec(container: Fields | Where = _CONTAINER, volume: Fields = _VOLUME) -> Fields:
    containers = Items(container)
    return _f(
        "schedulerName priority preemptionPolicy hostNetwork hostUsers restartPolicy",
        nodeName=_NODE,
        priorityClassName=_name("PriorityClass", "cluster scoped"),
        runtimeClassName=_name("RuntimeClass", "cluster scoped"),
        schedulingGates=Items(_f("name")),
        schedulingGroup=_f(podGroupName=_name("PodGroup")),
        workloadRef=_f(name=_name("Workload"), podGroup=_name("PodGroup"), podGroupReplicaKey=_P),
        containers=containers, initContainers=containers, ephemeralContainers=containers,
        overhead=_AMOUNTS, resources=_RESOURCES,
        resourceClaims=Items(Fields({**_POD_CLAIM.fields, "source": _POD_CLAIM})),
        nodeSelector=_LABELS, affinity=_AFFINITY, tolerations=Items(_TOLERATION), topologySpreadConstraints=Items(_SPREAD),
        volumes=Items(volume, worth=frozenset({"name"})),
        os=_f("name"),
    )  # fmt: skip


_STATE = _f(
    running=_f("startedAt reason"), waiting=_f("startedAt reason", message=_MESSAGE), terminated=_f("finishedAt reason exitCode"),
)  # fmt: skip
_CONTAINER_STATUSES = Items(
    _f(
        "restartCount ready started",
        name=Text("container"),
        state=_STATE,
        lastState=_STATE,
        allocatedResources=_AMOUNTS,
        resources=_RESOURCES,
    )
)
_CLAIM_STATUSES = Items(_f(name=Text("request"), resourceClaimName=_name("ResourceClaim")))
_POD_STATUS = _f(
    "phase resize startTime reason",
    message=_MESSAGE, nominatedNodeName=_NODE, containerStatuses=_CONTAINER_STATUSES, initContainerStatuses=_CONTAINER_STATUSES,
    conditions=_CONDITIONS, resources=_RESOURCES, allocatedResources=_AMOUNTS, resourceClaimStatuses=_CLAIM_STATUSES,
    extendedResourceClaimStatus=_f(
        resourceClaimName=_name("ResourceClaim"),
        requestMappings=Items(_f("resourceName", containerName=Text("container"), requestName=Text("request"))),
    ),
    nodeAllocatableResourceClaimStatuses=Items(
        _f(
            resourceClaimName=_name("ResourceClaim"), containers=Texts("container"), mapping=Items(_f("name quantity")),
            overhead=Items(_f("name perPod perContainer")),
        )
    ),
)  # fmt: skip

# --- devices ----------------------------------------------------------------------------------------------------------------------

_SELECTORS = Items(_f(cel=_f(expression=Text("cel"))))
_COUNTERS = Keyed(_f("value"))
_CAPACITY = _f("value", requestPolicy=_f("default", validValues=Texts(), validRange=_f("min max step")))
_PLACES = _f("allNodes", nodeName=_NODE, nodeSelector=_NODE_SELECTOR)
_DEVICE_FACTS = Fields(
    {
        **_PLACES.fields,
        **_f(
            "bindsToNode allowMultipleAllocations",
            attributes=Attributes(frozenset({"string", "int", "bool", "version", "strings", "ints", "bools", "versions"})),
            capacity=Keyed(_CAPACITY),
            consumesCounters=Items(_f("counterSet", counters=_COUNTERS, compatibilityGroups=Texts())),
            taints=Items(_TAINT), bindingConditions=Texts(), bindingFailureConditions=Texts(),
            nodeAllocatableResources=Keyed(_EMPTY), nodeAllocatableResourceMappings=Keyed(_EMPTY),
        ).fields,
    }
)  # fmt: skip
_SLICE = Fields(
    {
        **_PLACES.fields,
        **_f(
            "perDeviceNodeSelection partitionTypeAttribute",
            driver=_DRIVER,
            pool=_f("generation resourceSliceCount", name=Text("pool")),
            devices=Items(Fields({"name": Text("device"), "basic": _DEVICE_FACTS, **_DEVICE_FACTS.fields})),
            sharedCounters=Items(_f("name", counters=_COUNTERS)), skipNodeOperations=Texts(),
        ).fields,
    }
)  # fmt: skip
_EXACT = _f(
    "allocationMode count adminAccess",
    deviceClassName=_DRIVER,
    selectors=_SELECTORS, tolerations=Items(_TOLERATION), capacity=_f(requests=_AMOUNTS),
    derivedAttributes=Items(_f("name", expression=Text("cel"))),
)  # fmt: skip
_REQUEST = Fields(
    {
        "name": Text("request"), "exactly": _EXACT, "firstAvailable": Items(Fields({"name": Text("request"), **_EXACT.fields})),
        **_EXACT.fields,
    }
)  # fmt: skip
_CONFIG = Items(_f(opaque=_f(driver=_DRIVER), requests=Texts("request")))
_CLAIM_SPEC = _f(
    devices=_f(
        requests=Items(_REQUEST),
        constraints=Items(_f("matchAttribute distinctAttribute", requests=Texts("request"))),
        config=_CONFIG,
    )
)
_RESULT = _f(
    "adminAccess",
    driver=_DRIVER,
    request=Text("request"), pool=Text("pool"), device=Text("device"), shareID=_UID, tolerations=Items(_TOLERATION),
    consumedCapacity=_AMOUNTS,
    bindingConditions=Texts(), bindingFailureConditions=Texts(), skipNodeOperations=Texts(),
)  # fmt: skip
_CLAIM_STATUS = _f(
    allocation=_f("allocationTimestamp", devices=_f(results=Items(_RESULT)), nodeSelector=_NODE_SELECTOR),
    reservedFor=Items(_f("apiGroup resource", name=Text("name", key="resource"), uid=_UID)),
    devices=Items(_f(driver=_DRIVER, pool=Text("pool"), device=Text("device"), shareID=_UID, conditions=_CONDITIONS)),
)
_TAINT_RULE = _f(
    taint=_TAINT,
    deviceSelector=_f(driver=_DRIVER, deviceClassName=_DRIVER, pool=Text("pool"), device=Text("device"), selectors=_SELECTORS),
)

# --- groups and owners ------------------------------------------------------------------------------------------------------------

_POLICY = _f(gang=_f("minCount minGroupCount"), basic=_EMPTY)
_GROUP = _f(
    "priority preemptionPolicy",
    policy=_POLICY, schedulingPolicy=_POLICY, schedulingConstraints=_f(topology=Items(_f("key"))), resourceClaims=Items(_POD_CLAIM),
    disruptionMode=Either(_P, _f(single=_EMPTY, all=_EMPTY)), priorityClassName=_name("PriorityClass", "cluster scoped"),
)  # fmt: skip
_GROUP_SPEC = Fields(
    {
        **_GROUP.fields,
        **_f(
            parentCompositePodGroupName=_name("CompositePodGroup"),
            podGroupTemplateRef=_f(workload=_f(workloadName=_name("Workload"), podGroupTemplateName=_name("PodGroup"))),
            workloadRef=_f(workloadName=_name("Workload"), templateName=_name("PodGroup")),
        ).fields,
    }
)
_GROUP_STATUS = _f(conditions=_CONDITIONS, resourceClaimStatuses=_CLAIM_STATUSES)
_GROUP_TEMPLATE = Fields({"name": _name("PodGroup"), **_GROUP.fields})
_GROUP_TEMPLATE.fields.update(podGroupTemplates=Items(_GROUP_TEMPLATE), compositePodGroupTemplates=Items(_GROUP_TEMPLATE))  # one in another
_WORKLOAD = _f(
    podGroups=Items(_GROUP_TEMPLATE), podGroupTemplates=Items(_GROUP_TEMPLATE), compositePodGroupTemplates=Items(_GROUP_TEMPLATE),
    controllerRef=_f("kind", name=Text("name", key="kind")),
)  # fmt: skip


def _template(container: Fields | Where = _CONTAINER, volume: Fields = _VOLUME) -> Fields:
    return _f(metadata=_f(labels=_LABELS, annotations=Labels(ANNOTATIONS), finalizers=Texts()), spec=_pod_spec(container, volume))


_TEMPLATE = _template()
_REPLICATED = _f("replicas", selector=_LABEL_SELECTOR, template=_TEMPLATE)
_JOB = _f("parallelism completions suspend", selector=_LABEL_SELECTOR, template=_TEMPLATE)
_HELD = _f("replicas", template=_TEMPLATE)
_NAMED = _f("replicas", name=_P, template=_TEMPLATE)
_RAY = _f(
    headGroupSpec=_f(template=_TEMPLATE),
    workerGroupSpecs=Items(_f("groupName numOfHosts replicas", template=_TEMPLATE)),
)
_CUSTOM = Fields(
    {
        **_HELD.fields,
        **_RAY.fields,
        "suspend": _P,
        "runPolicy": _f("suspend"),
        "replicatedJobs": Items(_f("replicas name", template=_f(spec=_f("parallelism", template=_TEMPLATE)))),
        "leaderWorkerTemplate": _f("size", leaderTemplate=_TEMPLATE, workerTemplate=_TEMPLATE),
        "rayClusterSpec": _RAY,
        "rayClusterConfig": _RAY,
        "tasks": Items(_NAMED),
    },
    suffixes={"ReplicaSpecs": Keyed(_HELD)},
)
_OWNER_STATUS = _f("readyReplicas desiredNumberScheduled numberReady ready active succeeded failed", conditions=_CONDITIONS)

# --- the rest ---------------------------------------------------------------------------------------------------------------------

_EVENT = _f(
    "eventTime firstTimestamp lastTimestamp deprecatedFirstTimestamp deprecatedLastTimestamp type reason reportingComponent"
    " reportingController action count deprecatedCount",
    involvedObject=_REFERENCE, regarding=_REFERENCE, series=_f("lastObservedTime count"), message=_MESSAGE, note=_MESSAGE,
    source=_f("component"), deprecatedSource=_f("component"),
)  # fmt: skip
_VOLUME_SPEC = Fields(
    {
        **_f(
            "volumeMode",
            capacity=_AMOUNTS, accessModes=Texts(), claimRef=_REFERENCE, nodeAffinity=_f(required=_NODE_SELECTOR),
            storageClassName=_name("StorageClass", "cluster scoped"),
            volumeAttributesClassName=_name("VolumeAttributesClass", "cluster scoped"), csi=_f(driver=_DRIVER, volumeHandle=Text("handle")),
        ).fields,
    },
    others=True,
)  # fmt: skip
_QUEUE_STATUS = _f(conditions=_CONDITIONS)
_DAEMON = _f(name=_NODE, nodeName=_NODE, cliqueID=Text("identity"), status=_P)
_CLUSTER_QUEUE = _name("ClusterQueue", "cluster scoped")
_NODE_STATUS = _f(
    allocatable=_AMOUNTS, capacity=_AMOUNTS, conditions=_CONDITIONS, nodeInfo=_f("kubeletVersion architecture operatingSystem"),
    declaredFeatures=Texts(),
)  # fmt: skip
_QUOTA = _f(
    hard=_AMOUNTS, scopes=Texts(),
    scopeSelector=_f(matchExpressions=Items(_f("scopeName operator", values=Texts("cluster scoped", detail="PriorityClass")))),
)  # fmt: skip
_NODE_CLAIM = _f(
    requirements=Items(_f("key operator minValues", values=Texts("label", key="key"))),
    taints=Items(_TAINT), startupTaints=Items(_TAINT), nodeClassRef=_f("kind", name=_name("NodeClass", "cluster scoped")),
)  # fmt: skip
_POLICIES = _f("type", max=_AMOUNTS, min=_AMOUNTS, default=_AMOUNTS, defaultRequest=_AMOUNTS)

_PARTS: Mapping[tuple[str, str], Mapping[str, Shape]] = {
    ("", "Pod"): {"spec": _pod_spec(), "status": _POD_STATUS},
    ("", "Node"): {
        "spec": _f(
            "unschedulable", taints=Items(_TAINT), providerID=Text("provider"), podPreemptionPolicy=_f(disableResizePreemption=Texts())
        ),
        "status": _NODE_STATUS,
    },
    ("", "Event"): _EVENT.fields,
    ("events.k8s.io", "Event"): _EVENT.fields,
    ("", "Namespace"): {"status": _f("phase", conditions=_CONDITIONS)},
    ("", "PersistentVolumeClaim"): {"spec": _CLAIM_REQUEST, "status": _f("phase", conditions=_CONDITIONS)},
    ("", "PersistentVolume"): {"spec": _VOLUME_SPEC, "status": _f("phase reason", message=_MESSAGE)},
    ("", "ResourceQuota"): {"spec": _QUOTA, "status": _f(hard=_AMOUNTS, used=_AMOUNTS)},
    ("", "LimitRange"): {"spec": _f(limits=Items(_POLICIES))},
    ("", "ReplicationController"): {"spec": _f("replicas", selector=_LABELS, template=_TEMPLATE), "status": _OWNER_STATUS},
    ("apps", "Deployment"): {
        "spec": _f("replicas", selector=_LABEL_SELECTOR, template=_template(_RECOGNISED)),
        "status": _OWNER_STATUS,
    },
    ("apps", "ReplicaSet"): {"spec": _REPLICATED, "status": _OWNER_STATUS},
    ("apps", "StatefulSet"): {"spec": _REPLICATED, "status": _OWNER_STATUS},
    ("apps", "DaemonSet"): {"spec": _f(selector=_LABEL_SELECTOR, template=_template(_IMAGED, _MOUNTED)), "status": _OWNER_STATUS},
    ("batch", "Job"): {"spec": _JOB, "status": _OWNER_STATUS},
    ("batch", "CronJob"): {"spec": _f("suspend", jobTemplate=_f(spec=_JOB)), "status": _f(active=Items(_EMPTY))},
    ("policy", "PodDisruptionBudget"): {
        "spec": _f(selector=_LABEL_SELECTOR),
        "status": _f("disruptionsAllowed currentHealthy desiredHealthy", disruptedPods=Keyed(_P, key="name")),
    },
    ("coordination.k8s.io", "Lease"): {"spec": _f("leaseDurationSeconds acquireTime renewTime", holderIdentity=Text("holder"))},
    ("storage.k8s.io", "StorageClass"): _f(
        "volumeBindingMode", provisioner=_DRIVER, allowedTopologies=Items(_f(matchLabelExpressions=Items(_REQUIREMENT)))
    ).fields,
    ("storage.k8s.io", "CSINode"): {"spec": _f(drivers=Items(_f("name", topologyKeys=Texts(), allocatable=_f("count"))))},
    ("storage.k8s.io", "CSIDriver"): {"spec": _f("attachRequired storageCapacity preventPodSchedulingIfMissing")},
    ("storage.k8s.io", "CSIStorageCapacity"): _f(
        "capacity maximumVolumeSize", storageClassName=_name("StorageClass", "cluster scoped"), nodeTopology=_LABEL_SELECTOR
    ).fields,
    ("storage.k8s.io", "VolumeAttachment"): {
        "spec": _f(attacher=_DRIVER, nodeName=_NODE, source=_f(persistentVolumeName=_name("PersistentVolume"))),
        "status": _f("attached", attachError=_f(message=_MESSAGE)),
    },
    ("scheduling.k8s.io", "PriorityClass"): _f("value globalDefault preemptionPolicy").fields,
    ("scheduling.k8s.io", "PodGroup"): {"spec": _GROUP_SPEC, "status": _GROUP_STATUS},
    ("scheduling.k8s.io", "CompositePodGroup"): {"spec": _GROUP_SPEC, "status": _GROUP_STATUS},
    ("scheduling.k8s.io", "Workload"): {"spec": _WORKLOAD},
    ("resource.k8s.io", "ResourceSlice"): {"spec": _SLICE},
    ("resource.k8s.io", "ResourceClaim"): {"spec": _CLAIM_SPEC, "status": _CLAIM_STATUS},
    ("resource.k8s.io", "ResourceClaimTemplate"): {"spec": _f(spec=_CLAIM_SPEC)},
    ("resource.k8s.io", "DeviceClass"): {"spec": _f("extendedResourceName", selectors=_SELECTORS, config=_CONFIG)},
    ("resource.k8s.io", "DeviceTaintRule"): {"spec": _TAINT_RULE, "status": _f(conditions=_CONDITIONS)},
    ("kueue.x-k8s.io", "Workload"): {
        "spec": _f("active", queueName=_name("LocalQueue")),
        "status": _f(
            admission=_f(clusterQueue=_CLUSTER_QUEUE), conditions=_CONDITIONS,
            admissionChecks=Items(_f("state", name=_name("AdmissionCheck", "cluster scoped"), message=_MESSAGE)),
        ),
    },
    ("kueue.x-k8s.io", "LocalQueue"): {"spec": _f("stopPolicy", clusterQueue=_CLUSTER_QUEUE), "status": _QUEUE_STATUS},
    ("kueue.x-k8s.io", "ClusterQueue"): {"spec": _f("stopPolicy"), "status": _QUEUE_STATUS},
    ("kueue.x-k8s.io", "ResourceFlavor"): {
        "spec": _f(
            nodeLabels=_LABELS, nodeTaints=Items(_TAINT), tolerations=Items(_TOLERATION), topologyName=_name("Topology", "cluster scoped")
        )
    },
    ("kueue.x-k8s.io", "Topology"): {"spec": _f(levels=Items(_f("nodeLabel")))},
    ("autoscaling.x-k8s.io", "ProvisioningRequest"): {
        "spec": _f(
            provisioningClassName=_DRIVER, podSets=Items(_f("count", podTemplateRef=_f(name=_name("PodTemplate")))),
            parameters=Labels(frozenset(PARAMETERS)),
        ),
        "status": _f(conditions=_CONDITIONS),
    },
    ("autoscaling.x-k8s.io", "CapacityBuffer"): {
        "spec": _f(
            "replicas percentage",
            provisioningStrategy=_DRIVER, podTemplateRef=_f(name=_name("PodTemplate")),
            scalableRef=_f("kind", name=Text("name", key="kind")), limits=_AMOUNTS,
        ),
        "status": _f("replicas", conditions=_CONDITIONS),
    },
    ("karpenter.sh", "NodePool"): {
        "spec": _f(
            "weight replicas",
            template=_f(metadata=_f(labels=_LABELS), spec=_NODE_CLAIM), limits=_AMOUNTS,
        ),
        "status": _f("nodes", resources=_AMOUNTS, conditions=_CONDITIONS),
    },
    ("karpenter.sh", "NodeClaim"): {
        "spec": Fields({**_NODE_CLAIM.fields, "resources": _f(requests=_AMOUNTS)}),
        "status": _f(nodeName=_NODE, providerID=Text("provider"), capacity=_AMOUNTS, allocatable=_AMOUNTS, conditions=_CONDITIONS),
    },
    ("karpenter.sh", "NodeOverlay"): {
        "spec": _f("weight", requirements=Items(_REQUIREMENT), capacity=_AMOUNTS),
        "status": _f(conditions=_CONDITIONS),
    },
    **{
        ("cluster.x-k8s.io", kind): {
            "spec": _f(
                "replicas",
                clusterName=_name("Cluster"),
                template=_f(metadata=_f(labels=_LABELS), spec=_f(taints=Items(_TAINT), failureDomain=Text("label"))),
            ),
            "status": _f("readyReplicas"),
        }
        for kind in ("MachineDeployment", "MachineSet", "MachinePool")
    },
    ("inference.networking.k8s.io", "InferencePool"): {"spec": _f(selector=_LABEL_SELECTOR)},
    ("inference.networking.x-k8s.io", "InferencePool"): {"spec": _f(selector=_LABELS)},
    ("resource.nvidia.com", "ComputeDomain"): {
        "spec": _f("numNodes", channel=_f(resourceClaimTemplate=_f(name=_name("ResourceClaimTemplate")))),
        "status": _f("status", nodes=Items(_DAEMON)),
    },
    ("resource.nvidia.com", "ComputeDomainClique"): {"daemons": Items(_DAEMON)},
    **{kind: {"spec": _CUSTOM, "status": _f("readyReplicas", conditions=_CONDITIONS)} for kind in CUSTOM_KINDS},
}  # fmt: skip

_OWN_NAMES: Mapping[str, Text] = {
    "Node": _NODE, "CSINode": _NODE, "Namespace": _NAMESPACE, "DeviceClass": _DRIVER, "CSIDriver": _DRIVER,
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
    name = _OWN_NAMES.get(kind, _name(kind))
    if name.role == "cluster scoped":
        name = _name(kind, "cluster scoped")
    metadata = _metadata(name, namespaced=namespaced)
    if kind in _READ_WRITES:
        metadata = Fields({**metadata.fields, "managedFields": _WRITES})
    return Fields({"apiVersion": _P, "kind": _P, "metadata": metadata, **_PARTS[group, kind]})


KEPT: Mapping[tuple[str, str], Fields] = {key: _shape(*key) for key in KINDS}
"""The shape of every kind that is read."""

AUTOSCALER_STATUS = Fields(
    {
        "apiVersion": _P,
        "kind": _P,
        "metadata": _metadata(_P, namespaced=True),
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
