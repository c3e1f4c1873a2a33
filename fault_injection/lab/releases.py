"""Which Kubernetes a lab can run, and what a release serves only when asked.

The patch releases are those whose modules are pinned in go/<minor>.mod. A gate that is on but whose API isn't served does nothing, so
turning such a gate on serves its API too.
"""

from __future__ import annotations

from collections.abc import Iterable

VERSIONS = {"1.34": "v1.34.4", "1.35": "v1.35.4", "1.36": "v1.36.3", "1.37": "v1.37.2"}
NEWEST = "1.37"

COMPONENTS = ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
PROGRAMS = ("etcd", *COMPONENTS)

#: gate -> release -> the API versions that it needs and that are off by default there
APIS: dict[str, dict[str, tuple[str, ...]]] = {
    "GenericWorkload": {
        "1.35": ("scheduling.k8s.io/v1alpha1",),
        "1.36": ("scheduling.k8s.io/v1alpha2",),
        "1.37": ("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3"),
    },
    "DRADeviceTaints": {"1.34": ("resource.k8s.io/v1alpha3",), "1.35": ("resource.k8s.io/v1alpha3",)},
    "DRADeviceTaintRules": {"1.35": ("resource.k8s.io/v1alpha3",), "1.36": ("resource.k8s.io/v1beta2",)},
    "DRAResourcePoolStatus": {"1.36": ("resource.k8s.io/v1alpha3",), "1.37": ("resource.k8s.io/v1alpha3",)},
}


def apis_for(release: str, gates: Iterable[str]) -> tuple[str, ...]:
    """The API versions to serve beyond the default, for gates that are on."""
    found = [api for gate in gates for api in APIS.get(gate, {}).get(release, ())]
    return tuple(dict.fromkeys(found))
