"""A controller's program, built from its published Go module and kept outside the repository with the manifests to install it.

The module is fetched through `go mod download`, which checks it against the checksum database, and must have the sum that is written
here; what it depends on is fixed by the go.sum inside. A module that is no dependency of another is built in a copy of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fault_injection.lab.build import cache_root, compile_into, go_version, run_go, say
from fault_injection.lab.errors import LabError

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the source, which must be found exactly so many times: an upstream that looks otherwise isn't built."""

    path: str
    old: str
    new: str
    times: int


@dataclass(frozen=True, slots=True)
class Program:
    """What is built. `sum`: of the module, as go.sum has it. `package`: its main. `stamp`: the variable that holds its version.

    `manifests`: files and folders of the module to keep beside the binary.
    """

    name: str
    module: str
    version: str
    sum: str
    package: str
    stamp: str
    manifests: tuple[str, ...]
    edits: tuple[Edit, ...] = ()

    @property
    def folder(self) -> Path:
        """Where its build is, or would be. Raises LabError without Go."""
        return cache_root() / f"{self.name}-{self.version}-{_key(self)}"

    @property
    def is_built(self) -> bool:
        return shutil.which("go") is not None and (self.folder / self.name).exists()

    def binary(self) -> Path:
        """The program, built now if need be: that takes many minutes the first time. Raises LabError."""
        folder = self.folder
        if not (folder / self.name).exists():
            folder.mkdir(parents=True, exist_ok=True)
            _build(self, folder)
        return folder / self.name

    def documents(self, path: str) -> Iterator[Object]:
        """The objects in a manifest, or in all manifests of a folder, by name. Raises LabError for what isn't there."""
        found = self.folder / path
        files = sorted(found.glob("*.yaml")) if found.is_dir() else [found]
        if not files or not all(file.exists() for file in files):
            raise LabError(f"{found}: there are no manifests; remove {self.folder} and it is built anew")
        for file in files:
            yield from (item for item in yaml.safe_load_all(file.read_text()) if item)


def edited(source: Path, edits: tuple[Edit, ...]) -> None:
    """Carry out edits in a folder of sources. Raises LabError where a source isn't as expected."""
    for edit in edits:
        file = source / edit.path
        text = file.read_text()
        if (found := text.count(edit.old)) != edit.times:
            raise LabError(f"{edit.path} has {edit.old!r} {found} times, not {edit.times}: it isn't the source that this was written for")
        file.write_text(text.replace(edit.old, edit.new))


def _build(program: Program, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source = Path(scratch) / "source"
        shutil.copytree(_download(program, folder), source)
        for directory, _, files in os.walk(source):  # the module cache is read-only, and so is what is copied from it
            os.chmod(directory, 0o755)
            for name in files:
                os.chmod(os.path.join(directory, name), 0o644)
        edited(source, program.edits)
        for path in program.manifests:
            target = folder / path
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (source / path).is_dir() else shutil.copy)(source / path, target)
        compile_into(source, folder, program.name, program.package, f"-s -w -X {program.stamp}={program.version}")


def _download(program: Program, folder: Path) -> Path:
    say(f"fetching {program.module} {program.version}")
    found = json.loads(run_go(["mod", "download", "-json", f"{program.module}@{program.version}"], cwd=folder, capture=True))
    if found["Sum"] != program.sum:
        raise LabError(f"{program.module} {program.version} has the sum {found['Sum']}, not {program.sum}: that isn't the one meant")
    return Path(found["Dir"])


def _key(program: Program) -> str:
    return hashlib.sha256(f"{program!r} {go_version()}".encode()).hexdigest()[:16]
