"""Manifests that the API server takes, and ones that it refuses: each with what our error must name.

tests/fault_injection/test_manifests.py asks a real API server about all of them, so that neither table is an opinion.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

Json = dict[str, Any]

CLAIM: Json = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c"},
    "spec": {
        "devices": {
            "requests": [
                {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}},
                {
                    "name": "nic",
                    "firstAvailable": [
                        {"name": "fast", "deviceClassName": "nic.example.com"},
                        {"name": "slow", "deviceClassName": "nic.example.com", "count": 2},
                    ],
                },
            ],
            "constraints": [{"requests": ["gpu", "nic/fast"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}],
            "config": [{"requests": ["gpu"], "opaque": {"driver": "gpu.nvidia.com", "parameters": {"a": 1}}}],
        }
    },
}
TEMPLATE: Json = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "t"},
    "spec": {"spec": CLAIM["spec"]},
}
CLASS: Json = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu.example.com"},
    "spec": {"selectors": [{"cel": {"expression": "true"}}], "extendedResourceName": "example.com/gpu"},
}
POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {
        "nodeSelector": {"a": "b"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "resourceClaims": [{"name": "g", "resourceClaimName": "c"}],
        "initContainers": [{"name": "i", "image": "x", "restartPolicy": "Always"}],
        "containers": [
            {
                "name": "a",
                "image": "x",
                "resources": {
                    "requests": {"cpu": "500m", "memory": "1Gi"},
                    "limits": {"nvidia.com/gpu": 1, "memory": "2Gi"},
                    "claims": [{"name": "g", "request": "gpu"}],
                },
            }
        ],
    },
}
_TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {**POD["spec"], "restartPolicy": "Never"}}
JOB: Json = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"parallelism": 2, "template": _TEMPLATE}}
CRON_JOB: Json = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "n"},
    "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": _TEMPLATE}}},
}
DEPLOYMENT: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d"},
    "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD["spec"]}},
}

REQUEST, EXACTLY = "spec.devices.requests.0", "spec.devices.requests.0.exactly"
CONTAINER = "spec.containers.0"
GONE = object()
"""In place of a value: the field is taken out."""


def changed(base: Json, changes: Mapping[str, Any]) -> Json:
    """`base` with fields set, each by its path ("spec.devices.requests.0.name"; numbers are places of lists, "+" is one more; with "|"
    between them names may have dots)."""
    item = deepcopy(base)
    for path, value in changes.items():
        *way, last = path.split(".") if "|" not in path else path.split("|")
        place: Any = item
        for part in way:
            place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
        if value is GONE:
            del place[last]
        elif last == "+":
            place.append(value)
        elif isinstance(place, list):
            place[int(last)] = value
        else:
            place[last] = value
    return item


_SELECTOR = {"cel": {"expression": "true"}}
_NAMED: Json = {"name": "x", "exactly": {"deviceClassName": "a"}}
_SUB: Json = {"name": "x", "deviceClassName": "a"}

TAKEN: dict[str, Json] = {
    "a claim": CLAIM,
    "a template": TEMPLATE,
    "a class": CLASS,
    "a pod": POD,
    "a job": JOB,
    "a cron job": CRON_JOB,
    "a deployment": DEPLOYMENT,
    "count 0, which is 1": changed(CLAIM, {f"{EXACTLY}.count": 0}),
    "All with count 0": changed(CLAIM, {f"{EXACTLY}.count": 0, f"{EXACTLY}.allocationMode": "All"}),
    "33 devices": changed(CLAIM, {f"{EXACTLY}.count": 33}),
    "an empty mode": changed(CLAIM, {f"{EXACTLY}.allocationMode": ""}),
    "a constraint on a whole request with alternatives": changed(CLAIM, {"spec.devices.constraints.0.requests": ["nic"]}),
    "a constraint on all": changed(CLAIM, {"spec.devices.constraints.0.requests": []}),
    "both attributes in one constraint": changed(CLAIM, {"spec.devices.constraints.0.distinctAttribute": "a.b/c"}),
    "an attribute with two slashes": changed(CLAIM, {"spec.devices.constraints.0.matchAttribute": "a/b/c"}),
    "an attribute with a digit": changed(CLAIM, {"spec.devices.constraints.0.matchAttribute": "gpu.nvidia.com/UUID_2"}),
    "a name with dots": changed(CLAIM, {"metadata.name": "a.b-c.1"}),
    "a generated name": changed(CLAIM, {"metadata": {"generateName": "c-"}}),
    "no constraint and no config": changed(CLAIM, {"spec.devices.constraints": GONE, "spec.devices.config": GONE}),
    "no request": changed(CLAIM, {"spec.devices": {}}),
    "a toleration without an operator": changed(CLAIM, {f"{EXACTLY}.tolerations": [{"key": "a.b/c", "effect": "NoExecute"}]}),
    "a toleration of everything": changed(CLAIM, {f"{EXACTLY}.tolerations": [{"operator": "Exists"}]}),
    "a toleration of an empty key": changed(CLAIM, {f"{EXACTLY}.tolerations": [{"operator": "Equal", "value": "a"}]}),
    "seventeen tolerations": changed(CLAIM, {f"{EXACTLY}.tolerations": [{"key": f"k{n}"} for n in range(17)]}),
    "capacity": changed(CLAIM, {f"{EXACTLY}.capacity": {"requests": {"memory": "10Gi"}}}),
    "32 selectors": changed(CLAIM, {f"{EXACTLY}.selectors": [_SELECTOR] * 32}),
    "a pod that asks for less than it may use": changed(POD, {f"{CONTAINER}.resources.requests.memory": "1Mi"}),
    "a pod that asks for nothing": changed(POD, {f"{CONTAINER}.resources": GONE}),
    "a pod that tolerates numbers": changed(POD, {"spec.tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute"}]}),
    "a pod with implicit extended resources": changed(
        POD, {"spec|containers|0|resources|requests|deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1}
    ),
    "a pod with claims named by request": changed(
        POD, {f"{CONTAINER}.resources.claims": [{"name": "g", "request": "gpu"}, {"name": "g", "request": "nic"}]}
    ),
    "a pod with resources of its own": changed(POD, {"spec.resources": {"requests": {"cpu": 1, "memory": "2Gi"}}}),
    "a pod with affinity": changed(
        POD,
        {
            "spec.affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]
                    }
                },
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 1, "podAffinityTerm": {"topologyKey": "z", "labelSelector": {"matchLabels": {"a": "b"}}}}
                    ]
                },
            },
            "spec.topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}],
            "spec.schedulingGates": [{"name": "a.b/c"}],
        },
    ),
}
"""The API server takes these."""

REFUSED: dict[str, tuple[Json, tuple[str, ...]]] = {
    "a negative count": (changed(CLAIM, {f"{EXACTLY}.count": -4}), ("requests[0].exactly.count", "is -4", "1 or more")),
    "a mode that there isn't": (changed(CLAIM, {f"{EXACTLY}.allocationMode": "Some"}), ("allocationMode", "ExactCount, All")),
    "All with a count": (changed(CLAIM, {f"{EXACTLY}.allocationMode": "All"}), ("exactly.count", "is 2 beside allocationMode All")),
    "two requests of one name": (changed(CLAIM, {"spec.devices.requests.1.name": "gpu"}), ("requests[1].name", "twice")),
    "a request without a name": (changed(CLAIM, {f"{REQUEST}.name": ""}), ("requests[0].name", "is missing")),
    "a request name in capitals": (
        changed(CLAIM, {"spec.devices.requests.+": {**_NAMED, "name": "GPU"}}),
        ("requests[2].name", '"GPU" is no name'),
    ),
    "a request name with a dot": (changed(CLAIM, {"spec.devices.requests.+": {**_NAMED, "name": "a.b"}}), ("is no name",)),
    "a request that asks for nothing": (changed(CLAIM, {"spec.devices.requests.+": {"name": "x"}}), ("requests[2]", "exactly or first")),
    "a request of both kinds": (changed(CLAIM, {f"{REQUEST}.firstAvailable": [_SUB]}), ("requests[0]", "both exactly and firstAvailable")),
    "nine alternatives": (
        changed(CLAIM, {"spec.devices.requests.1.firstAvailable": [{**_SUB, "name": f"n{n}"} for n in range(9)]}),
        ("firstAvailable", "9 entries", "8 at most"),
    ),
    "two alternatives of one name": (
        changed(CLAIM, {"spec.devices.requests.1.firstAvailable.+": {**_SUB, "name": "fast"}}),
        ("firstAvailable[2].name", "twice"),
    ),
    "a negative count of an alternative": (
        changed(CLAIM, {"spec.devices.requests.1.firstAvailable.0.count": -1}),
        ("firstAvailable[0].count", "is -1"),
    ),
    "no class": (changed(CLAIM, {f"{EXACTLY}.deviceClassName": GONE}), ("exactly.deviceClassName", "is missing")),
    "a class in capitals": (changed(CLAIM, {f"{EXACTLY}.deviceClassName": "GPU"}), ("exactly.deviceClassName", '"GPU" is no name')),
    "33 requests": (
        changed(CLAIM, {"spec.devices": {"requests": [{**_NAMED, "name": f"n{n}"} for n in range(33)]}}),
        ("requests", "33 entries", "32 at most"),
    ),
    "33 selectors": (changed(CLAIM, {f"{EXACTLY}.selectors": [_SELECTOR] * 33}), ("selectors", "33 entries")),
    "a selector of nothing": (changed(CLAIM, {f"{EXACTLY}.selectors": [{}]}), ("selectors[0].cel.expression", "is missing")),
    "a selector without text": (changed(CLAIM, {f"{EXACTLY}.selectors": [{"cel": {"expression": ""}}]}), ("is missing",)),
    "a selector too long": (
        changed(CLAIM, {f"{EXACTLY}.selectors": [{"cel": {"expression": "true" + " " * 10_240}}]}),
        ("longer than 10,240",),
    ),
    "a constraint on no request of the claim": (
        changed(CLAIM, {"spec.devices.constraints.0.requests": ["gpux"]}),
        ("constraints[0].requests[0]", '"gpux"', "gpu, nic, nic/fast, nic/slow", "did you mean gpu?"),
    ),
    "a constraint on a request twice": (
        changed(CLAIM, {"spec.devices.constraints.0.requests": ["gpu", "gpu"]}),
        ("constraints[0].requests[1]", "twice"),
    ),
    "a constraint of nothing": (changed(CLAIM, {"spec.devices.constraints.0.matchAttribute": GONE}), ("constraints[0]", "neither")),
    "an attribute without a domain": (
        changed(CLAIM, {"spec.devices.constraints.0.matchAttribute": "numaNode"}),
        ("constraints[0].matchAttribute", "no domain"),
    ),
    "an attribute that is no identifier": (
        changed(CLAIM, {"spec.devices.constraints.0.matchAttribute": "a.b/c-d"}),
        ("constraints[0].matchAttribute", '"c-d"'),
    ),
    "configuration for no request of the claim": (
        changed(CLAIM, {"spec.devices.config.0.requests": ["nic/fats"]}),
        ("config[0].requests[0]", "did you mean nic/fast?"),
    ),
    "configuration of nothing": (changed(CLAIM, {"spec.devices.config.0.opaque": GONE}), ("config[0].opaque", "is missing")),
    "configuration without parameters": (
        changed(CLAIM, {"spec.devices.config.0.opaque.parameters": GONE}),
        ("config[0].opaque.parameters", "must be an object"),
    ),
    "configuration of a driver that is no name": (
        changed(CLAIM, {"spec.devices.config.0.opaque.driver": "a_b"}),
        ("config[0].opaque.driver", '"a_b"'),
    ),
    "a device toleration of an operator that there isn't": (
        changed(CLAIM, {f"{EXACTLY}.tolerations": [{"key": "a", "operator": "Exist"}]}),
        ("tolerations[0].operator", "did you mean Exists?"),
    ),
    "a device toleration with a value too many": (
        changed(CLAIM, {f"{EXACTLY}.tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}),
        ("tolerations[0].value", "beside operator Exists"),
    ),
    "a device toleration of an effect that there isn't": (
        changed(CLAIM, {f"{EXACTLY}.tolerations": [{"key": "a", "effect": "PreferNoSchedule"}]}),
        ("tolerations[0].effect", "NoSchedule, NoExecute"),
    ),
    "a bad name": (changed(CLAIM, {"metadata.name": "Bad_Name"}), ("metadata.name", '"Bad_Name"')),
    "a bad generated name": (changed(CLAIM, {"metadata": {"generateName": "Bad-"}}), ("metadata.generateName", '"Bad-"')),
    "a version that is not served": (changed(CLAIM, {"apiVersion": "resource.k8s.io/v9"}), ("apiVersion", "v9", "resource.k8s.io/v1,")),
    "an old version": (changed(CLAIM, {"apiVersion": "resource.k8s.io/v1alpha2"}), ("apiVersion", "v1alpha2")),
    "v1alpha3, which has other kinds": (changed(CLAIM, {"apiVersion": "resource.k8s.io/v1alpha3"}), ("apiVersion", "v1alpha3")),
    "a template whose claim is wrong": (
        changed(TEMPLATE, {"spec.spec.devices.requests.0.exactly.count": -1}),
        ("spec.spec.devices.requests[0].exactly.count",),
    ),
    "a class whose selector is nothing": (changed(CLASS, {"spec.selectors": [{}]}), ("spec.selectors[0].cel.expression",)),
    "a class for no extended resource": (changed(CLASS, {"spec.extendedResourceName": "gpu"}), ("extendedResourceName", '"gpu"')),
    "a pod field in the wrong case": (
        changed(POD, {"spec.nodeselector": {"a": "b"}}),
        ("spec.nodeselector is not", "nodeSelector?"),
    ),
    "a container field misspelt": (changed(POD, {f"{CONTAINER}.resource": {}}), ("containers[0].resource is not a field", "resources?")),
    "a negative limit": (
        changed(POD, {"spec|containers|0|resources|limits|nvidia.com/gpu": -1}),
        ("containers[0].resources.limits[nvidia.com/gpu]", "is -1"),
    ),
    "half a GPU": (changed(POD, {"spec|containers|0|resources|limits|nvidia.com/gpu": "0.5"}), ("is 500m", "whole numbers")),
    "a GPU without a limit": (
        changed(POD, {f"{CONTAINER}.resources": {"requests": {"nvidia.com/gpu": 1}}}),
        ("resources.limits", "has no nvidia.com/gpu"),
    ),
    "another request than the limit": (
        changed(POD, {"spec|containers|0|resources|limits|nvidia.com/gpu": 2, "spec|containers|0|resources|requests|nvidia.com/gpu": 1}),
        ("requests[nvidia.com/gpu]", "equal to the limit, 2"),
    ),
    "more memory than the limit": (
        changed(POD, {f"{CONTAINER}.resources.requests.memory": "3Gi"}),
        ("requests[memory]", "is 3Gi", "at most the limit, 2Gi"),
    ),
    "a resource without a domain": (changed(POD, {f"{CONTAINER}.resources.limits.gpu": 1}), ("limits[gpu]", "nvidia.com/gpu")),
    "a GPU for the pod as a whole": (changed(POD, {"spec.resources": {"limits": {"nvidia.com/gpu": 1}}}), ("spec.resources.limits",)),
    "no container": (changed(POD, {"spec.containers": []}), ("spec.containers", "at least one")),
    "two containers of one name": (changed(POD, {"spec.containers.+": {"name": "a", "image": "x"}}), ("containers[1].name", "twice")),
    "a claim that the pod doesn't have": (
        changed(POD, {f"{CONTAINER}.resources.claims": [{"name": "gg"}]}),
        ("claims[0].name", '"gg"', "resourceClaims"),
    ),
    "a claim twice": (
        changed(POD, {f"{CONTAINER}.resources.claims": [{"name": "g"}, {"name": "g", "request": "gpu"}]}),
        ("claims[1]", "before already"),
    ),
    "an entry of both kinds": (
        changed(POD, {"spec.resourceClaims.0.resourceClaimTemplateName": "t"}),
        ("resourceClaims[0]", "both resourceClaimName and resourceClaimTemplateName"),
    ),
    "an entry of no kind": (changed(POD, {"spec.resourceClaims.0.resourceClaimName": GONE}), ("resourceClaims[0]", "neither")),
    "the form of 1.30": (
        changed(POD, {"spec.resourceClaims.0": {"name": "g", "source": {"resourceClaimName": "c"}}}),
        ("resourceClaims[0].source is not a field",),
    ),
    "a toleration without a key": (changed(POD, {"spec.tolerations": [{"operator": "Equal"}]}), ("tolerations[0].operator", "Exists")),
    "a toleration of an operator that there isn't": (
        changed(POD, {"spec.tolerations": [{"key": "a", "operator": "exists"}]}),
        ("tolerations[0].operator", "did you mean Exists?"),
    ),
    "a toleration of an effect that there isn't": (
        changed(POD, {"spec.tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedul"}]}),
        ("tolerations[0].effect", "did you mean NoSchedule?"),
    ),
    "seconds without NoExecute": (
        changed(POD, {"spec.tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 3}]}),
        ("tolerations[0].effect", "NoExecute"),
    ),
    "a job whose template is wrong": (
        changed(JOB, {"spec|template|spec|containers|0|resources|limits|nvidia.com/gpu": -1}),
        ("spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]",),
    ),
    "a job whose template has a typo": (changed(JOB, {"spec.template.spec.toleration": []}), ("spec.template.spec.toleration is not a",)),
    "a cron job whose template is wrong": (
        changed(CRON_JOB, {"spec.jobTemplate.spec.template.spec.containers.0.resources.claims.0.name": "h"}),
        ("spec.jobTemplate.spec.template.spec.containers[0].resources.claims[0].name",),
    ),
    "a deployment whose template is wrong": (
        changed(DEPLOYMENT, {"spec.template.spec.containers": []}),
        ("spec.template.spec.containers",),
    ),
}
"""The API server refuses these, asked to be strict about fields as kubectl asks it; our error names the parts."""
