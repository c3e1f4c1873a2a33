"""The fields of pod groups and of the owners of pods."""

from __future__ import annotations

from .parts import CONDITIONS, EMPTY, LABEL_SELECTOR, PLAIN, named, of
from .pod_fields import CLAIM_STATUSES, POD_CLAIM, TEMPLATE
from .shape import Either, Fields, Items, Keyed, Text

_POLICY = of(gang=of("minCount minGroupCount"), basic=EMPTY)
_GROUP = of(
    "priority preemptionPolicy",
    policy=_POLICY, schedulingPolicy=_POLICY, schedulingConstraints=of(topology=Items(of("key"))), resourceClaims=Items(POD_CLAIM),
    disruptionMode=Either(PLAIN, of(single=EMPTY, all=EMPTY)), priorityClassName=named("PriorityClass", "cluster scoped"),
)  # fmt: skip
GROUP_SPEC = Fields(
    {
        **_GROUP.fields,
        **of(
            parentCompositePodGroupName=named("CompositePodGroup"),
            podGroupTemplateRef=of(workload=of(workloadName=named("Workload"), podGroupTemplateName=named("PodGroup"))),
            workloadRef=of(workloadName=named("Workload"), templateName=named("PodGroup")),
        ).fields,
    }
)
GROUP_STATUS = of(conditions=CONDITIONS, resourceClaimStatuses=CLAIM_STATUSES)
_GROUP_TEMPLATE = Fields({"name": named("PodGroup"), **_GROUP.fields})
_GROUP_TEMPLATE.fields.update(podGroupTemplates=Items(_GROUP_TEMPLATE), compositePodGroupTemplates=Items(_GROUP_TEMPLATE))  # one in another
WORKLOAD = of(
    podGroups=Items(_GROUP_TEMPLATE), podGroupTemplates=Items(_GROUP_TEMPLATE), compositePodGroupTemplates=Items(_GROUP_TEMPLATE),
    controllerRef=of("kind", name=Text("name", key="kind")),
)  # fmt: skip


REPLICATED = of("replicas", selector=LABEL_SELECTOR, template=TEMPLATE)
STATEFUL = of("replicas podManagementPolicy", selector=LABEL_SELECTOR, template=TEMPLATE)
JOB = of("parallelism completions suspend", selector=LABEL_SELECTOR, template=TEMPLATE)
_HELD = of("replicas", template=TEMPLATE)
_NAMED = of("replicas", name=PLAIN, template=TEMPLATE)
_RAY = of(
    headGroupSpec=of(template=TEMPLATE),
    workerGroupSpecs=Items(of("groupName numOfHosts replicas", template=TEMPLATE)),
)
CUSTOM = Fields(
    {
        **_HELD.fields,
        **_RAY.fields,
        "suspend": PLAIN,
        "runPolicy": of("suspend"),
        "replicatedJobs": Items(of("replicas name", template=of(spec=of("parallelism", template=TEMPLATE)))),
        "leaderWorkerTemplate": of("size", leaderTemplate=TEMPLATE, workerTemplate=TEMPLATE),
        "rayClusterSpec": _RAY,
        "rayClusterConfig": _RAY,
        "tasks": Items(_NAMED),
    },
    suffixes={"ReplicaSpecs": Keyed(_HELD)},
)
OWNER_STATUS = of("readyReplicas desiredNumberScheduled numberReady ready active succeeded failed", conditions=CONDITIONS)
