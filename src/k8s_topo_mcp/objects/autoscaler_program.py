"""The container of a node autoscaler, Cluster Autoscaler or Karpenter: which version it is, and how it was started.

Environment and arguments of other programs are never kept. Of these two they decide what the program does for pods with devices; kept are
the flags and the two variables named here, nothing else: a flag may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from .decoding import Json

VARIABLES = frozenset({"IGNORE_DRA_REQUESTS", "FEATURE_GATES"})
"""Environment variables of Karpenter that are kept (pkg/operator/options)."""

FLAGS = frozenset(
    """
    allowed-scheduler-names balance-similar-node-groups balancing-ignore-label balancing-label bypassed-scheduler-names
    capacity-buffer-controller-enabled capacity-buffer-pod-injection-enabled capacity-quotas-enabled check-capacity-batch-processing
    check-capacity-processor-instance check-capacity-provisioning-request-batch-timebox check-capacity-provisioning-request-max-batch-size
    cloud-provider cores-total emit-per-nodegroup-metrics enable-csi-node-aware-scheduling enable-dynamic-resource-allocation
    enable-provisioning-requests enforce-node-group-min-size estimator expander expendable-pods-priority-cutoff
    force-delete-unregistered-nodes gpu-total ignore-taint initial-node-group-backoff-duration max-autoprovisioned-node-group-count
    max-binpacking-time max-failing-time max-inactivity max-node-group-backoff-duration max-node-provision-time max-node-startup-time
    max-nodegroup-binpacking-duration max-nodes-per-scaleup max-nodes-total max-total-unready-percentage memory-total namespace
    new-pod-scale-up-delay node-autoprovisioning-enabled node-group-auto-discovery node-group-backoff-reset-timeout
    node-info-cache-expire-time nodes ok-total-unready-count parallel-scale-up
    pod-injection-limit proactive-scaleup provisioning-request-initial-backoff-time
    provisioning-request-max-backoff-cache-size provisioning-request-max-backoff-time regional scale-down-enabled scale-from-unschedulable
    scale-up-from-zero scan-interval skip-nodes-with-custom-controller-pods skip-nodes-with-local-storage skip-nodes-with-system-pods
    startup-taint startup-taint-prefix status-config-map-name status-taint write-status-configmap
    batch-idle-duration batch-max-duration feature-gates ignore-dra-requests min-values-policy preference-policy
    """.split()
)
"""Cluster Autoscaler: config/flags/flags.go; the last line Karpenter: pkg/operator/options/options.go."""

NAMING_FLAGS = frozenset(
    "namespace node-group-auto-discovery nodes status-config-map-name allowed-scheduler-names bypassed-scheduler-names".split()
)
"""Flags whose values have names of a cluster's own things in them."""

Program = Literal["cluster-autoscaler", "karpenter"]
_FLAG = re.compile(r"-{1,2}([A-Za-z][\w.-]*)(?:=(.*))?\Z", re.DOTALL)
_LONGEST = 500


@dataclass(frozen=True, slots=True, eq=False)
class AutoscalerProgram:
    """`words` are its flags, each "--name=value" or "--name", in order. `variables` as VARIABLES has them."""

    program: Program
    container: str
    image: str
    words: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict[str, str])


def program_of(container: Json) -> Program | None:
    """Which of the two a container runs, by its image and the first word of its command; None for any other."""
    image = container.get("image")
    path = image.partition("@")[0].lower().split("/") if isinstance(image, str) else []
    command = container.get("command")
    first = cast(list[Any], command)[0] if isinstance(command, list) and command else ""
    if "cluster-autoscaler" in (path[-1] if path else "") or (isinstance(first, str) and first.rpartition("/")[2] == "cluster-autoscaler"):
        return "cluster-autoscaler"
    return "karpenter" if any(part.partition(":")[0].startswith("karpenter") for part in path) else None


def kept_words(words: Iterable[object]) -> list[str]:
    """The flags in a command line that are kept, a value that stands in a word of its own joined to its flag. A shell's one long word is
    taken apart at its blanks."""
    parts: list[str] = []
    for word in words:
        if isinstance(word, str):
            parts += word.split() if " -" in word else [word]
    found: list[str] = []
    open_flag = False
    for part in parts[:_LONGEST]:
        match = _FLAG.match(part)
        if match is None:
            if open_flag:
                found[-1] = f"{found[-1]}={part[:_LONGEST]}"
            open_flag = False
            continue
        name, value = match.group(1), match.group(2)
        open_flag = name in FLAGS and value is None
        if name in FLAGS:
            found.append(f"--{name}" if value is None else f"--{name}={value[:_LONGEST]}")
    return found


def _texts(container: Json, key: str) -> Sequence[object]:
    value = container.get(key)
    return cast(list[object], value) if isinstance(value, list) else ()


def _variables(container: Json) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in _texts(container, "env"):
        if isinstance(entry, dict):
            name, value = cast(Json, entry).get("name"), cast(Json, entry).get("value")
            if isinstance(name, str) and isinstance(value, str) and name in VARIABLES:
                found[name] = value[:_LONGEST]
    return found


def decode_autoscaler(pod_spec: Json) -> AutoscalerProgram | None:
    """The first container of a pod's spec that is an autoscaler; None where there is none. Fields of another type are passed over."""
    for entry in _texts(pod_spec, "containers"):
        if isinstance(entry, dict):
            container = cast(Json, entry)
            program = program_of(container)
            if program is not None:
                image, name = container.get("image"), container.get("name")
                return AutoscalerProgram(
                    program,
                    name if isinstance(name, str) else "",
                    image if isinstance(image, str) else "",
                    (*kept_words(_texts(container, "command")), *kept_words(_texts(container, "args"))),
                    _variables(container),
                )
    return None
