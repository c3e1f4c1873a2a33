"""The shelf: the folders under `fault_injection/faults/`, each read when it is asked for."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .declared import Fault
from .golden import Golden
from .strict import BadFile, read
from .variants import Variant, drawn
from .world import World

FAULTS = Path(__file__).parents[1] / "faults"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class UnknownFault(Exception):
    """There is no fault of that name. Says which are near."""


@dataclass(frozen=True)
class Entry:
    """One folder of the shelf. `release`: the one in which it is injected, in place of its own."""

    folder: Path
    release: str | None = None

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def fault(self) -> Fault:
        """Raises UnknownFault for a release in which it doesn't behave so."""
        found = read(self.folder / "fault.yaml", Fault)
        if self.release in (None, found.plane.release):
            return found
        if self.release not in found.minors:
            raise UnknownFault(f"{self.name} doesn't behave so in {self.release}: fault.yaml says {found.releases}")
        return found.model_copy(update={"plane": found.plane.model_copy(update={"release": self.release})})

    @cached_property
    def golden(self) -> Golden:
        return read(self.folder / "golden.yaml", Golden)

    @property
    def seed(self) -> int:
        """The seed of its recordings, and where none is given: another one for each fault, so that they don't all look alike."""
        return zlib.crc32(self.name.encode()) % 1000

    def world(self, seed: int, innocents: int | None = None, real: str | None = None) -> World:
        """The scene of a seed, described to its end; with a controller that runs itself, its part is left out and stays to be seen.

        Raises BadFile for a scene without a `scene` function.
        """
        variant = drawn(self.name, seed, self.fault.variants, innocents, tuple(getattr(self._scene(), "DRIVERS", ())))
        if real is not None:
            variant = dataclasses.replace(variant, events_expired=False, old_condition=False)
        return self.scene(variant, real)

    def scene(self, variant: Variant, real: str | None = None) -> World:
        """The scene in a given variant. Raises BadFile as `world` does."""
        world = World(self.name, self.fault, variant, real)
        make: Callable[[World], None] = self._scene().scene  # type: ignore[attr-defined]
        make(world)
        world.finish()
        return world

    def _scene(self) -> object:
        path = self.folder / "scene.py"
        loaded = importlib.util.spec_from_file_location(f"fault_injection.faults.{self.name.replace('-', '_')}", path)
        if loaded is None or loaded.loader is None or not path.exists():
            raise BadFile(f"{path}: there is no such file; it has `def scene(world: World) -> None`")
        module = importlib.util.module_from_spec(loaded)
        loaded.loader.exec_module(module)
        if not hasattr(module, "scene"):
            raise BadFile(f"{path}: there is no `def scene(world: World) -> None` in it")
        return module


def entries(folder: Path = FAULTS) -> list[Entry]:
    """All faults, by name."""
    return [Entry(path) for path in sorted(folder.iterdir()) if path.is_dir() and _NAME.fullmatch(path.name)]


def entry(name: str, folder: Path = FAULTS) -> Entry:
    """One fault. Raises UnknownFault."""
    known = [found.name for found in entries(folder)]
    if name not in known:
        asked = set(name.split("-"))
        alike = {other: len(asked & set(other.split("-"))) for other in known}
        near = sorted((other for other in known if alike[other]), key=lambda other: -alike[other])[:4]
        raise UnknownFault(f"no fault {name!r}; {'near it: ' + ', '.join(near) if near else f'there are {len(known)}'}: `list` prints them")
    return Entry(folder / name)
