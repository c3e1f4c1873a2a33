"""The devices that one node offers, in the allocator's order, with everything that is known of them before the search.

Pools in their order, slices by name, devices as listed. Selector verdicts come from `dra.selectors`, so equal slices are judged once. What
makes two devices interchangeable is gathered here as a fingerprint (see `dra.pruning` for why that is enough).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..cel import Environment
from ..objects import Device, DeviceId, ResourceSlice
from .pools import Pool
from .problem import AllocationProblem, TargetNode
from .selectors import SelectorChain, Verdict, chain_verdicts


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A device at its place: the pool and slice it is in, and where in the slice."""

    device: Device
    slice: ResourceSlice
    pool: Pool
    place: int

    @property
    def id(self) -> DeviceId:
        return DeviceId(self.pool.driver, self.pool.name, self.device.name)


class Candidates:
    """All devices of the node's usable pools; `held[i]`: allocated whole to some other claim; `elsewhere[i]`: for other nodes only.
    `barrier`: the search may not look at this candidate or any behind it (1.34 alone)."""

    def __init__(self, problem: AllocationProblem, pools: Sequence[Pool], node: TargetNode, environment: Environment) -> None:
        self.problem = problem
        self.environment = environment
        self.node = node
        self.all: list[Candidate] = []
        self.held: list[bool] = []
        self.elsewhere: list[bool] = []
        self.slices: list[ResourceSlice] = []
        self.pool_of: list[int] = []
        self.barrier: int | None = None
        self.barrier_text = ""
        for number, pool in enumerate(pools):
            if problem.minor == 34 and pool.state == "invalid" and self.barrier is None:
                # 1.34 stops with an error where it meets an invalid pool.
                self.barrier, self.barrier_text = len(self.all), f"pool {pool.name} is invalid: {pool.reason}"
            # 1.34 takes devices from incomplete pools too.
            if not (pool.usable or (problem.minor == 34 and pool.state == "incomplete")):
                continue
            names = problem.in_use.names_in(pool.driver, pool.name)
            for entry in pool.slices:
                self.slices.append(entry)
                per_device = entry.per_device_node_selection
                for place, device in enumerate(entry.devices):
                    self.all.append(Candidate(device, entry, pool, place))
                    self.held.append(device.name in names)
                    self.elsewhere.append(per_device and not device.node_selection.matches(node.name, node.labels))
                    self.pool_of.append(number)

    def __len__(self) -> int:
        return len(self.all)

    def verdicts(self, selectors: SelectorChain) -> list[Verdict]:
        """Whether each candidate passes the class's and the request's selectors, and can be used on this node at all."""
        found: list[Verdict] = []
        for entry in self.slices:
            found.extend(chain_verdicts(entry, selectors))
        if "DeviceBindingAndStatus" not in self.problem.features:
            binding = "DeviceBinding" in self.problem.features and "DeviceStatus" in self.problem.features
            if not binding:
                for index, candidate in enumerate(self.all):
                    if candidate.device.binding_conditions:
                        found[index] = False
        if any(self.elsewhere):
            found = [False if other and verdict is True else verdict for verdict, other in zip(found, self.elsewhere, strict=True)]
        return found
