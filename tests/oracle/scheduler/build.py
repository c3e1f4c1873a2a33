"""Builds the filter oracle of one Kubernetes minor and keeps it outside the repository.

    python -m tests.oracle.scheduler.build 1.36          prints the path of the binary; without a minor: of the newest
    python -m tests.oracle.scheduler.build pin 1.36      resolves the modules of a minor afresh and writes go/1.36.mod and .sum

The cache key is the Go sources, the pinned modules and the Go version. k8s.io/kubernetes is pinned as the lab pins it
(`fault_injection/lab/go`); where the lab of that minor has been built, this only links. Cold, a minor takes minutes.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from tests.oracle.build import BuildError, built, copy_module, run_go

SOURCES = Path(__file__).parent / "go"
LAB = Path(__file__).parents[3] / "fault_injection" / "lab" / "go"
VERSIONS = {"1.34": "v1.34.4", "1.35": "v1.35.4", "1.36": "v1.36.3", "1.37": "v1.37.2"}
NEWEST = "1.37"


def build(minor: str = NEWEST) -> Path:
    """The oracle binary, built if it isn't in the cache. Raises BuildError as `tests.oracle.build` does."""
    if minor not in VERSIONS:
        raise BuildError(f"no filter oracle for {minor}; there is one for {', '.join(VERSIONS)}")
    flags = ["-tags", _tag(minor), "-ldflags", _stamp(minor)]
    files = [*_sources(minor), SOURCES / f"{minor}.mod", SOURCES / f"{minor}.sum"]
    return built(f"{minor} filter oracle (kubernetes {VERSIONS[minor]})", VERSIONS[minor], files, flags, "scheduler-")


def pin(minor: str) -> None:
    """Write the modules of a minor down: those of the lab, reduced to what the oracle imports."""
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch)
        copy_module(_sources(minor), module)
        text = (LAB / f"{minor}.mod").read_text()
        text = re.sub(r"^module .*$", "module k8s-topo-mcp.oracle/scheduler", text, count=1, flags=re.MULTILINE)
        (module / "go.mod").write_text(re.sub(r"^tool \(.*?^\)\n", "", text, flags=re.MULTILINE | re.DOTALL))
        shutil.copy(LAB / f"{minor}.sum", module / "go.sum")
        run_go(["mod", "tidy"], cwd=module, environment={"GOFLAGS": f"-tags={_tag(minor)}"})
        shutil.copy(module / "go.mod", SOURCES / f"{minor}.mod")
        shutil.copy(module / "go.sum", SOURCES / f"{minor}.sum")


def _sources(minor: str) -> list[Path]:
    """The sources of a minor: `only_34.go` is for 1.34 alone, `since_35.go` for 1.35 and newer ones."""
    number = int(minor.partition(".")[2])
    found: list[Path] = []
    for source in sorted(SOURCES.glob("*.go")):
        kind, _, bound = source.stem.partition("_")
        if not ((kind == "only" and int(bound) != number) or (kind == "since" and int(bound) > number)):
            found.append(source)
    return found


def _tag(minor: str) -> str:
    return "k8s" + minor.replace(".", "")


def _stamp(minor: str) -> str:
    major, _, number = minor.partition(".")
    known = {"gitVersion": VERSIONS[minor], "gitMajor": major, "gitMinor": number}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in known.items())


if __name__ == "__main__":
    if sys.argv[1:2] == ["pin"]:
        for wanted in sys.argv[2:] or VERSIONS:
            pin(wanted)
    else:
        for wanted in sys.argv[1:] or [NEWEST]:
            print(build(wanted))
