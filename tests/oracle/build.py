"""Builds the Go oracle of one Kubernetes minor and keeps it outside the repository.

    python -m tests.oracle.build 1.37          prints the path of the binary

The cache key is the Go sources, the pinned modules and the Go version, so a stale binary can't be used by mistake.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

SOURCES = Path(__file__).parent / "go"

#: The version of k8s.io/dynamic-resource-allocation that stands for each minor. The pins themselves are in go/<minor>.mod.
VERSIONS = {"1.34": "v0.34.4", "1.35": "v0.35.4", "1.36": "v0.36.3", "1.37": "v0.37.2"}
MINORS = tuple(VERSIONS)


class BuildError(Exception):
    """The oracle can't be built here; the message says what is missing or what the compiler said."""


def build(minor: str) -> Path:
    """The oracle binary of a minor, built if it isn't in the cache.

    Raises
    ------
    BuildError
        If Go is missing, the minor unknown, or the build fails.
    """
    if minor not in VERSIONS:
        raise BuildError(f"no oracle for {minor}; there is one for {', '.join(MINORS)}")
    files = sorted([*SOURCES.glob("*.go"), SOURCES / f"{minor}.mod", SOURCES / f"{minor}.sum"])
    tag = "k8s" + minor.replace(".", "")
    return built(f"{minor} oracle (dynamic-resource-allocation {VERSIONS[minor]})", minor, files, ["-tags", tag])


def built(what: str, stamp: str, files: Sequence[Path], flags: Sequence[str] = (), prefix: str = "") -> Path:
    """A Go program's binary, built if it isn't in the cache.

    Parameters
    ----------
    what
        The program and what it is pinned to, for a reader.
    stamp
        What it is built for, a part of its key and of its folder's name, which `prefix` begins.
    files
        Its sources and its one `.mod` and `.sum`, in the order in which the key counts them.
    flags
        Of `go build`, beside those of every oracle.
    """
    digest = hashlib.sha256(f"{stamp} {go_version()}\n".encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    folder = cache_root() / f"{prefix}{stamp}-{digest.hexdigest()[:16]}"
    binary = folder / "oracle"
    if binary.exists():
        return binary
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    _say(f"building the {what}; cold this takes minutes")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        module = Path(scratch)
        copy_module(files, module)
        run_go(["build", "-mod=readonly", "-trimpath", "-buildvcs=false", *flags, "-o", "oracle", "."], cwd=module)
        os.replace(module / "oracle", binary)  # atomic: two builds at once don't spoil each other
    _say(f"built the {what} in {time.monotonic() - started:.0f} s")
    return binary


def copy_module(files: Iterable[Path], folder: Path) -> None:
    """The files of a program as a Go module; its pins lie beside it under the name of what they are for."""
    for file in files:
        shutil.copy(file, folder / (f"go{file.suffix}" if file.suffix in (".mod", ".sum") else file.name))


def cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "k8s-topo-mcp" / "oracle"


def go_version() -> str:
    """The Go that would build, as `go env GOVERSION` says it."""
    return run_go(["env", "GOVERSION"], cwd=SOURCES, capture=True).strip()


def run_go(
    arguments: list[str], cwd: Path, capture: bool = False, environment: dict[str, str] | None = None, may_fail: bool = False
) -> str:
    """Runs go at low priority and returns its output if captured; else that goes to stderr."""
    if shutil.which("go") is None:
        raise BuildError("the oracles are Go programs: install Go 1.26 or newer and put `go` on PATH")
    settings = {"CGO_ENABLED": "0", "GOWORK": "off", **(environment or {})}
    result = subprocess.run(
        ["nice", "-n", "10", "go", *arguments] if shutil.which("nice") else ["go", *arguments],
        cwd=cwd,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE if capture else sys.stderr,
        stderr=subprocess.PIPE if capture else sys.stderr,
        text=True,
    )
    if result.returncode and not may_fail:
        raise BuildError(f"go {' '.join(arguments)} failed with {result.returncode}\n{result.stderr or '(its output is above)'}")
    return result.stdout or ""


def _say(text: str) -> None:
    print(f"oracle: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MINORS:
        print(build(wanted))
