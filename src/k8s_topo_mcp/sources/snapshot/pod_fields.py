"""The fields of pods, and of the templates of pods that owners hold."""

from __future__ import annotations

from ...objects.autoscaler_program import kept_command, kept_variables, program_of
from .parts import (
    AMOUNTS,
    ANNOTATIONS,
    CONDITIONS,
    DRIVER,
    LABEL_SELECTOR,
    LABELS,
    MESSAGE,
    NODE,
    NODE_SELECTOR,
    PLAIN,
    RESOURCES,
    TERM,
    TOLERATION,
    named,
    of,
)
from .shape import Fields, Flags, Items, Labels, Text, Texts, Variables, Where

_POD_TERM = of(
    "topologyKey",
    labelSelector=LABEL_SELECTOR, namespaces=Texts("namespace"), namespaceSelector=LABEL_SELECTOR,
    matchLabelKeys=Texts(), mismatchLabelKeys=Texts(),
)  # fmt: skip
_REQUIRED, _PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
_POD_AFFINITY = Fields({_REQUIRED: Items(_POD_TERM), _PREFERRED: Items(of("weight", podAffinityTerm=_POD_TERM))})
_AFFINITY = of(
    nodeAffinity=Fields({_REQUIRED: NODE_SELECTOR, _PREFERRED: Items(of("weight", preference=TERM))}),
    podAffinity=_POD_AFFINITY,
    podAntiAffinity=_POD_AFFINITY,
)
_SPREAD = of(
    "maxSkew topologyKey whenUnsatisfiable minDomains nodeAffinityPolicy nodeTaintsPolicy",
    labelSelector=LABEL_SELECTOR, matchLabelKeys=Texts(),
)  # fmt: skip
CLAIM_REQUEST = of(
    "volumeMode",
    storageClassName=named("StorageClass", "cluster scoped"), volumeAttributesClassName=named("VolumeAttributesClass", "cluster scoped"),
    accessModes=Texts(), resources=of(requests=AMOUNTS), selector=LABEL_SELECTOR, volumeName=named("PersistentVolume"),
)  # fmt: skip
_CONTAINER = of(
    "restartPolicy",
    name=Text("container"),
    resources=of(limits=AMOUNTS, requests=AMOUNTS, claims=Items(of(name=Text("request"), request=Text("request")))),
    ports=Items(of("hostPort containerPort protocol", hostIP=Text("address"))),
    restartPolicyRules=Items(of("action")),
    volumeMounts=Items(of(bindMountOptions=Texts()), worth=frozenset()),
)
IMAGED = Fields({**_CONTAINER.fields, "image": Text("image")})
_WORDS = Flags(kept_command)
_AUTOSCALER = Fields({**IMAGED.fields, "command": _WORDS, "args": _WORDS, "env": Variables(kept_variables)})
RECOGNISED = Where(program_of, _AUTOSCALER, _CONTAINER)
_DISK = of("readOnly", **dict.fromkeys(("pdName", "volumeID", "diskName", "iqn"), Text("handle")))
_VOLUME = of(
    name=Text("volume"),
    persistentVolumeClaim=of("readOnly", claimName=named("PersistentVolumeClaim")),
    csi=of("readOnly", driver=DRIVER),
    ephemeral=of(volumeClaimTemplate=of(spec=CLAIM_REQUEST)),
    gcePersistentDisk=_DISK, awsElasticBlockStore=_DISK, azureDisk=_DISK, cinder=_DISK, iscsi=_DISK,
    rbd=of("readOnly", pool=Text("handle"), image=Text("handle"), monitors=Texts("host")),
)  # fmt: skip
MOUNTED = Fields({**_VOLUME.fields, "hostPath": of(path=Text("path"))})
POD_CLAIM = of(
    name=Text("request"), resourceClaimName=named("ResourceClaim"), resourceClaimTemplateName=named("ResourceClaimTemplate"),
)  # fmt: skip


def pod_spec(container: Fields | Where = _CONTAINER, volume: Fields = _VOLUME) -> Fields:
    """A pod's spec, with more of its containers and volumes where they are read."""
    containers = Items(container)
    return of(
        "schedulerName priority preemptionPolicy hostNetwork hostUsers restartPolicy",
        nodeName=NODE,
        priorityClassName=named("PriorityClass", "cluster scoped"),
        runtimeClassName=named("RuntimeClass", "cluster scoped"),
        schedulingGates=Items(of("name")),
        schedulingGroup=of(podGroupName=named("PodGroup")),
        workloadRef=of(name=named("Workload"), podGroup=named("PodGroup"), podGroupReplicaKey=PLAIN),
        containers=containers, initContainers=containers, ephemeralContainers=containers,
        overhead=AMOUNTS, resources=RESOURCES,
        resourceClaims=Items(Fields({**POD_CLAIM.fields, "source": POD_CLAIM})),
        nodeSelector=LABELS, affinity=_AFFINITY, tolerations=Items(TOLERATION), topologySpreadConstraints=Items(_SPREAD),
        volumes=Items(volume, worth=frozenset({"name"})),
        os=of("name"),
    )  # fmt: skip


_STATE = of(
    running=of("startedAt reason"), waiting=of("startedAt reason", message=MESSAGE), terminated=of("finishedAt reason exitCode"),
)  # fmt: skip
_CONTAINER_STATUSES = Items(
    of(
        "restartCount ready started",
        name=Text("container"),
        state=_STATE,
        lastState=_STATE,
        allocatedResources=AMOUNTS,
        resources=RESOURCES,
    )
)
CLAIM_STATUSES = Items(of(name=Text("request"), resourceClaimName=named("ResourceClaim")))
POD_STATUS = of(
    "phase resize startTime reason",
    message=MESSAGE, nominatedNodeName=NODE, containerStatuses=_CONTAINER_STATUSES, initContainerStatuses=_CONTAINER_STATUSES,
    conditions=CONDITIONS, resources=RESOURCES, allocatedResources=AMOUNTS, resourceClaimStatuses=CLAIM_STATUSES,
    extendedResourceClaimStatus=of(
        resourceClaimName=named("ResourceClaim"),
        requestMappings=Items(of("resourceName", containerName=Text("container"), requestName=Text("request"))),
    ),
    nodeAllocatableResourceClaimStatuses=Items(
        of(
            resourceClaimName=named("ResourceClaim"), containers=Texts("container"), mapping=Items(of("name quantity")),
            overhead=Items(of("name perPod perContainer")),
        )
    ),
)  # fmt: skip


def pod_template(container: Fields | Where = _CONTAINER, volume: Fields = _VOLUME) -> Fields:
    """What an owner makes its pods of."""
    return of(metadata=of(labels=LABELS, annotations=Labels(ANNOTATIONS), finalizers=Texts()), spec=pod_spec(container, volume))


TEMPLATE = pod_template()
