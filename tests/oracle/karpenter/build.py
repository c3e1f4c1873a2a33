"""Builds the oracle that is Karpenter's own DRA allocator and keeps it outside the repository.

python -m tests.oracle.karpenter.build          prints the path of the binary
python -m tests.oracle.karpenter.build pin      resolves the modules afresh and writes go/1.14.mod and .sum
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.oracle.build import BuildError, built, copy_module, run_go

SOURCES = Path(__file__).parent / "go"
RELEASE, VERSION = "1.14", "v1.14.1"


def build() -> Path:
    """The oracle binary, built if it isn't in the cache. Raises BuildError as `tests.oracle.build` does."""
    files = [*sorted(SOURCES.glob("*.go")), SOURCES / f"{RELEASE}.mod", SOURCES / f"{RELEASE}.sum"]
    return built(f"Karpenter oracle (karpenter {VERSION})", VERSION, files, prefix="karpenter-")


def pin() -> None:
    """Write down the modules that the pinned Karpenter asks for."""
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch)
        copy_module(SOURCES.glob("*.go"), module)
        go = run_go(["mod", "download", "-json", f"sigs.k8s.io/karpenter@{VERSION}"], cwd=module, capture=True)
        if VERSION not in go:
            raise BuildError(f"karpenter {VERSION} can't be had: {go}")
        (module / "go.mod").write_text(f"module k8s-topo-mcp.oracle/karpenter\n\ngo 1.26.6\n\nrequire sigs.k8s.io/karpenter {VERSION}\n")
        run_go(["mod", "tidy"], cwd=module)
        shutil.copy(module / "go.mod", SOURCES / f"{RELEASE}.mod")
        shutil.copy(module / "go.sum", SOURCES / f"{RELEASE}.sum")


if __name__ == "__main__":
    if sys.argv[1:] == ["pin"]:
        pin()
    else:
        print(build())
