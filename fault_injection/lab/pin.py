"""Writes the pins of a release: go/<minor>.mod and .sum, and with `etcd` go/etcd.mod and .sum.

    python -m fault_injection.lab.pin 1.37

k8s.io/kubernetes can be required as a module once each staging module of its go.mod is replaced by the published one of the same release
(`v1.37.2` goes with `v0.37.2`); the `sample-*` ones aren't published and aren't needed.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from .build import PINS, run_go, say
from .releases import COMPONENTS, VERSIONS

ETCD = "v3.6.16"


def pin(what: str) -> None:
    """Resolve all versions afresh and write them down."""
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch)
        if what == "etcd":
            shutil.copy(PINS / "etcd.go", module / "main.go")
            text = f"module k8s-topo-mcp.lab/etcd\n\ngo 1.25.0\n\nrequire go.etcd.io/etcd/server/v3 {ETCD}\n"
        else:
            text = _kubernetes(module, VERSIONS[what])
        (module / "go.mod").write_text(text)
        run_go(["mod", "tidy"], cwd=module)
        shutil.copy(module / "go.mod", PINS / f"{what}.mod")
        shutil.copy(module / "go.sum", PINS / f"{what}.sum")
    say(f"pinned {what}")


def _kubernetes(module: Path, version: str) -> str:
    found = json.loads(run_go(["mod", "download", "-json", f"k8s.io/kubernetes@{version}"], cwd=module, capture=True))
    upstream = json.loads(run_go(["mod", "edit", "-json", found["GoMod"]], cwd=module, capture=True))
    staging = [entry["Old"]["Path"] for entry in upstream["Replace"] if "/sample-" not in entry["Old"]["Path"]]
    published = version.replace("v1.", "v0.", 1)
    return "\n".join(
        [
            "module k8s-topo-mcp.lab/kube",
            f"go {upstream['Go']}",
            "tool (",
            *(f"\tk8s.io/kubernetes/cmd/{name}" for name in COMPONENTS),
            ")",
            f"require k8s.io/kubernetes {version}",
            "replace (",
            *(f"\t{path} => {path} {published}" for path in staging),
            ")",
            "",
        ]
    )


if __name__ == "__main__":
    for wanted in sys.argv[1:] or ["etcd", *VERSIONS]:
        pin(wanted)
