"""What differs between two injections of one fault: everything that mustn't matter. Drawn from the seed, by one rule for all faults."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass

from .declared import Variants

INNOCENTS = (0, 2, 50, 1000)
API_VERSIONS = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1")


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A machine with eight devices of one product. `product` is published as attribute `productName`, `memory` as a capacity."""

    shape: str
    driver: str
    product: str
    memory: str

    @property
    def device_class(self) -> str:
        return self.driver

    def attribute(self, name: str = "productName") -> str:
        """CEL for an attribute of the driver's own."""
        return f"device.attributes['{self.driver}'].{name}"

    def is_product(self) -> str:
        """CEL for: it is this product."""
        return f"{self.attribute()} == '{self.product}'"

    def has_memory(self, amount: str) -> str:
        """CEL for: it has at least so much memory."""
        return f"device.capacity['{self.driver}'].memory.compareTo(quantity('{amount}')) >= 0"


ACCELERATORS = (
    Accelerator("p5.48xlarge", "gpu.nvidia.com", "NVIDIA H100 80GB HBM3", "81559Mi"),
    Accelerator("p4d.24xlarge", "gpu.nvidia.com", "NVIDIA A100-SXM4-40GB", "40Gi"),
    Accelerator("g6.48xlarge", "gpu.nvidia.com", "NVIDIA L4", "23034Mi"),
    Accelerator("onprem-dgx-h100", "gpu.nvidia.com", "NVIDIA H100 80GB HBM3", "81559Mi"),
    Accelerator("Standard_ND96isr_MI300X_v5", "gpu.amd.com", "AMD_Instinct_MI300X_OAM", "196592Mi"),
    Accelerator("onprem-mi300x-oam8-spr", "gpu.amd.com", "AMD_Instinct_MI300X_OAM", "196592Mi"),
)


@dataclass(frozen=True, slots=True)
class Variant:
    """The variant of one seed.

    `innocents`: nodes that have nothing to do with it. `distractors`: events of other, earlier troubles. `neighbour`: a pod beside it that
    works. `events_expired`: all events are gone. `old_condition`: the cluster changed after the scheduler's last word. `api_version`: in
    which version of resource.k8s.io the recording has its objects.
    """

    seed: int
    accelerator: Accelerator
    innocents: int = 2
    distractors: int = 0
    neighbour: bool = False
    events_expired: bool = False
    old_condition: bool = False
    api_version: str = API_VERSIONS[0]

    def words(self) -> str:
        """What is particular about it."""
        parts = [f"seed {self.seed}", self.accelerator.shape, f"{self.innocents} innocent nodes"]
        parts += [f"{self.distractors} distracting events"] if self.distractors else []
        parts += [
            text
            for text, on in (
                ("a neighbour that works", self.neighbour),
                ("events expired", self.events_expired),
                ("an old condition", self.old_condition),
                (self.api_version, self.api_version != API_VERSIONS[0]),
            )
            if on
        ]
        return ", ".join(parts)


def drawn(fault: str, seed: int, allowed: Variants, innocents: int | None = None, drivers: tuple[str, ...] = ()) -> Variant:
    """The variant of a fault's seed; `innocents` in place of the drawn number. The same for the same arguments, on every machine."""
    draw = random.Random(f"variant {fault} {seed}")
    accelerator = draw.choice([entry for entry in ACCELERATORS if not drivers or entry.driver in drivers])
    number = draw.choices(INNOCENTS, (3, 5, 2, 1))[0]
    found = Variant(
        seed,
        accelerator,
        innocents=number,
        distractors=draw.choice((0, 1, 3)),
        neighbour=draw.random() < 0.5,
        events_expired=draw.random() < 0.25,
        old_condition=draw.random() < 0.2,
        api_version=draw.choices(API_VERSIONS, (4, 1, 1))[0],
    )
    number = found.innocents if innocents is None else innocents
    return dataclasses.replace(
        found,
        innocents=0 if allowed.herd == "none" else number,
        distractors=found.distractors if allowed.distractors else 0,
        neighbour=found.neighbour and allowed.neighbour,
        events_expired=allowed.events == "expired" or (allowed.events == "may expire" and found.events_expired),
        old_condition=found.old_condition and allowed.old_condition and allowed.herd != "none",
    )
