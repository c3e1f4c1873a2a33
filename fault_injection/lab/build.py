"""Builds etcd and the control plane of one Kubernetes minor and keeps them outside the repository.

    python -m fault_injection lab build 1.37          prints the folder of the binaries

The cache key is the pinned modules, the version to stamp and the Go version, so a stale binary can't be used by mistake. A folder with
binaries of the right names can stand in for the build.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time  # noqa: TID251 - how long a build took is for the person who waits
from collections.abc import Iterable
from pathlib import Path

from .errors import LabError
from .releases import COMPONENTS, PROGRAMS, VERSIONS

PINS = Path(__file__).parent / "go"
PATIENCE = 30.0
"""Seconds of compiling between two words of progress."""


def binaries(release: str, given: Path | None = None) -> Path:
    """The folder with the four programs: the given one if it has them all, else the cached build, made now if need be.

    Raises
    ------
    LabError
        If the release is unknown, Go is missing, the build fails, or the given folder lacks a program.
    """
    if given is not None:
        missing = [name for name in PROGRAMS if not os.access(given / name, os.X_OK)]
        if missing:
            raise LabError(f"{given} has no executable {', '.join(missing)}; a lab needs {', '.join(PROGRAMS)} there")
        return given.resolve()
    folder = cached(release)
    if not is_built(release):
        folder.mkdir(parents=True, exist_ok=True)
        _build_etcd(folder)
        _build_kubernetes(release, folder)
    return folder


def is_built(release: str) -> bool:
    """Whether the programs of a release are in the cache, as pinned now."""
    return shutil.which("go") is not None and all((cached(release) / name).exists() for name in PROGRAMS)


def cached(release: str) -> Path:
    """Where the programs of a release are, or would be."""
    if release not in VERSIONS:
        raise LabError(f"no lab for {release}; there is one for {', '.join(VERSIONS)}")
    return cache_root() / f"{release}-{_key(release)}"


def cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "k8s-topo-mcp" / "lab"


def stamp(version: str) -> str:
    """Linker flags that stamp a version. Without them a component says v0.0.0 and clients can't tell its release."""
    major, minor, _ = version.removeprefix("v").split(".", 2)
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(["-s", "-w", *(f"-X {package}.{name}={value}" for package in packages for name, value in values.items())])


def _build_etcd(folder: Path) -> None:
    if (folder / "etcd").exists():
        return
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        module = _module(Path(scratch), "etcd")
        shutil.copy(PINS / "etcd.go", module / "main.go")
        compile_into(module, folder, "etcd", ".", "-s -w")


def _build_kubernetes(release: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        module = _module(Path(scratch), release)
        for name in COMPONENTS:
            if not (folder / name).exists():
                compile_into(module, folder, name, f"k8s.io/kubernetes/cmd/{name}", stamp(VERSIONS[release]))


def _module(folder: Path, pins: str) -> Path:
    shutil.copy(PINS / f"{pins}.mod", folder / "go.mod")
    shutil.copy(PINS / f"{pins}.sum", folder / "go.sum")
    return folder


def compile_into(module: Path, folder: Path, name: str, package: str, flags: str) -> None:
    """Compile a package of the module in `module` to the program `folder/name`, with words of progress. Raises LabError."""
    started = time.monotonic()
    say(f"building {name} into {folder}; the first build takes many minutes")
    arguments = ["build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", name, package]
    with subprocess.Popen(go_command(arguments), cwd=module, env=_environment(), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        _tell_progress(name, process.stderr)
    if process.returncode:
        raise LabError(f"building {name} failed with {process.returncode}; the compiler's words are above")
    os.replace(module / name, folder / name)  # atomic: two builds at once don't spoil each other
    say(f"built {name} in {time.monotonic() - started:.0f} s")


def _tell_progress(name: str, lines: Iterable[str]) -> None:
    """With -v the compiler names each package that it had to compile: count those, pass on the rest."""
    compiled, told = 0, time.monotonic()
    for line in lines:
        if " " in line.strip():
            sys.stderr.write(line)
        else:
            compiled += 1
        if time.monotonic() - told > PATIENCE:
            say(f"{name}: {compiled} packages compiled")
            told = time.monotonic()


def go_command(arguments: list[str]) -> list[str]:
    """go at low priority: a build takes long and nobody else should feel it."""
    if shutil.which("go") is None:
        raise LabError("the lab is built from Go modules: install Go 1.26 or newer and put `go` on PATH, or give binaries by --binaries")
    return ["nice", "-n", "10", "go", *arguments] if shutil.which("nice") else ["go", *arguments]


def _environment() -> dict[str, str]:
    return {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}


def run_go(arguments: list[str], cwd: Path, capture: bool = False) -> str:
    """Runs go and returns its output if captured; else that goes to stderr."""
    result = subprocess.run(
        go_command(arguments),
        cwd=cwd,
        env=_environment(),
        stdout=subprocess.PIPE if capture else sys.stderr,
        stderr=subprocess.PIPE if capture else sys.stderr,
        text=True,
    )
    if result.returncode:
        raise LabError(f"go {' '.join(arguments)} failed with {result.returncode}\n{result.stderr or '(its output is above)'}")
    return result.stdout or ""


def go_version() -> str:
    """As go1.26.8. Raises LabError without Go."""
    return run_go(["env", "GOVERSION"], cwd=PINS, capture=True).strip()


def _key(release: str) -> str:
    digest = hashlib.sha256(f"{release} {VERSIONS[release]} {go_version()}\n".encode())
    for source in (PINS / "etcd.go", PINS / "etcd.mod", PINS / "etcd.sum", PINS / f"{release}.mod", PINS / f"{release}.sum"):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def say(text: str) -> None:
    """Progress, on stderr."""
    sys.stderr.write(f"lab: {text}\n")
    sys.stderr.flush()
