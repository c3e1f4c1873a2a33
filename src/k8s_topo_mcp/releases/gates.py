"""Feature gates that matter here, and their state without a flag, per minor release.

Taken from `defaultVersionedKubernetesFeatureGates` in pkg/features/kube_features.go of k8s.io/kubernetes v1.34.4, v1.35.4, v1.36.3 and
v1.37.2. A cell is the stage (A alpha, B beta, G GA, D deprecated), on (+) or off (-), and "!" where it is locked; "-" alone: the release
has no such gate. One gate depends on more than the minor, see `NEEDS_COMPATIBILITY`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OLDEST, NEWEST = 34, 37

_TABLE = """
#                                                1.34 1.35 1.36 1.37
ClearingNominatedNodeNameAfterBinding           A-   B+   B+   B+
CompositePodGroup                               -    -    -    A-
DRAAdminAccess                                  B+   B+   G+!  G+!
DRAConsumableCapacity                           A-   A-   B+   B+
DRADerivedAttributes                            -    -    -    A-
DRADeviceBindingConditions                      A-   A-   B+   B+
DRADeviceCompatibilityGroups                    -    -    -    A-
DRADeviceTaintRules                             -    A-   B-   G+
DRADeviceTaints                                 A-   A-   B+   G+
DRAExtendedResource                             A-   A-   B+   G+!
DRAFractionalCapacityRange                      -    -    -    B+
DRAListTypeAttributes                           -    -    A-   A-
DRANodeAllocatableResources                     -    -    A-   A-
DRAOptionalNodeOperations                       -    -    -    A-
DRAPartitionableDevices                         A-   A-   B+   B+
DRAPartitionableDevicesType                     -    -    -    A-
DRAPrioritizedList                              B+   B+   G+   G+!
DRAResourceClaimDeviceStatus                    B+   B+   B+   G+!
DRAResourceClaimGranularStatusAuthorization     -    -    B+   B+
DRAResourcePoolStatus                           -    -    A-   A-
DRASchedulerFilterTimeout                       B+   B+   B+   B+
DRAWorkloadResourceClaims                       -    -    A-   B-
DynamicResourceAllocation                       G+   G+!  G+!  G+!
GangScheduling                                  -    A-   A-   -
GenericWorkload                                 -    A-   A-   B-
InPlacePodLevelResourcesVerticalScaling         -    A-   B+   B+
InPlacePodVerticalScaling                       B+   G+!  G+!  G+!
InPlacePodVerticalScalingInitContainers         -    -    B+   G+!
InPlacePodVerticalScalingSchedulerPreemption    -    -    -    A-
InterPodAffinityHostnameFastPath                -    -    -    A-
MatchLabelKeysInPodAffinity                     G+!  G+!  G+!  G+!
MatchLabelKeysInPodTopologySpread               B+   B+   B+   B+
MatchLabelKeysInPodTopologySpreadSelectorMerge  B+   B+   B+   B+
MutableCSINodeAllocatableCount                  B-   B+   G+!  G+!
MutablePodResourcesForSuspendedJobs             -    A-   B+   B+
MutableSchedulingDirectivesForSuspendedJobs     -    A-   B+   B+
NodeDeclaredFeatures                            -    A-   B+   G+!
NodeInclusionPolicyInPodTopologySpread          G+!  G+!  G+!  G+!
NominatedNodeNameForExpectation                 A-   B+   B+   B+
OpportunisticBatching                           -    B+   B+   B+
PodGroupPreemptionPolicy                        -    -    -    A-
PodLevelResources                               B+   B+   B+   B+
PodSchedulingReadiness                          G+!  G+!  G+!  G+!
PodTopologyLabelsAdmission                      A-   B+   B+   B+
ResourceHealthStatus                            A-   A-   B+   B+
SELinuxMount                                    B-   B-   B-   G+
SchedulerAsyncAPICalls                          B-   B-   B-   B-
SchedulerAsyncPreemption                        B+   B+   B+   B+
SchedulerPopFromBackoffQ                        B+   B+   B+   B+
SchedulerPreQueueingHints                       -    -    -    A-
SchedulerQueueingHints                          G+!  G+!  G+!  -
SidecarContainers                               B+   B+   B+   -
StorageCapacityScoring                          A-   A-   A-   B+
TaintTolerationComparisonOperators              -    A-   A-   A-
TopologyAwareWorkloadScheduling                 -    -    A-   A-
VolumeAttributesClass                           G+   G+   G+!  G+!
VolumeLimitScaling                              -    A-   A-   B+
WorkloadAwarePreemption                         -    -    A-   -
WorkloadWithJob                                 -    -    A-   A-
"""

NEEDS_COMPATIBILITY: Mapping[str, int] = {"DRAFractionalCapacityRange": 37}
"""On by default only where the minimum compatibility version (`minCompatibilityMinor` of /version) is at least this minor. Without a flag
it is one less than the release's own (component-base compatibility/version.go), so on a plain 1.37 the gate is off."""

STAGES: Mapping[str, str] = {"A": "alpha", "B": "beta", "G": "GA", "D": "deprecated"}


@dataclass(frozen=True, slots=True)
class GateDefault:
    """A gate's state without a flag: `stage` is alpha, beta, GA or deprecated; `locked`: no flag can change it."""

    enabled: bool
    stage: str
    locked: bool


def _cell(text: str) -> GateDefault | None:
    return None if text == "-" else GateDefault(text[1] == "+", STAGES[text[0]], text.endswith("!"))


def _read() -> Mapping[int, Mapping[str, GateDefault]]:
    found: dict[int, dict[str, GateDefault]] = {minor: {} for minor in range(OLDEST, NEWEST + 1)}
    for line in _TABLE.strip().splitlines()[1:]:
        name, *cells = line.split()
        for minor, cell in zip(found, cells, strict=True):
            state = _cell(cell)
            if state is not None:
                found[minor][name] = state
    return found


DEFAULTS: Mapping[int, Mapping[str, GateDefault]] = _read()
"""minor -> gate -> default."""


def nearest_known(minor: int) -> int:
    """The minor whose data stands in for `minor`."""
    return min(max(minor, OLDEST), NEWEST)


def default_gates(minor: int, compatibility: int | None = None) -> Mapping[str, GateDefault]:
    """The gates of a release without flags.

    Parameters
    ----------
    minor
        The release (or its emulated one); outside of 34 to 37 the nearest known one is used.
    compatibility
        The minimum compatibility minor; None is the default, one less than `minor`.
    """
    known = nearest_known(minor)
    reached = known - 1 if compatibility is None else compatibility
    return {
        name: GateDefault(False, state.stage, state.locked) if reached < NEEDS_COMPATIBILITY.get(name, 0) else state
        for name, state in DEFAULTS[known].items()
    }
