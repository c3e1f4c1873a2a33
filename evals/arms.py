"""Arms: with what an agent may look. A YAML file each, in `evals/arms/` or anywhere.

    name: kubernetes-mcp-server          # in letters, digits and dashes
    title: containers/kubernetes-mcp-server, read-only
    shell: false                         # a shell with kubectl, jq and python, KUBECONFIG set
    servers:                             # MCP servers over stdio
      kubernetes:
        command: [npx, -y, "kubernetes-mcp-server@0.0.67", --read-only, --kubeconfig, "{kubeconfig}"]
        env: {}
    documents: []                        # text that is given with the question: paths from the repository's root
    needs: [npx]                         # programs without which the arm isn't run

`{kubeconfig}` is the case's replay server, `{python}` the interpreter that runs the evals, `{snapshot}` the recording as a file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from fault_injection.library.strict import Part

ROOT = Path(__file__).parents[1]
SHELF = Path(__file__).parent / "arms"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+|\+[a-z0-9]+)*")


class BadArm(Exception):
    """An arm's file isn't as declared, or isn't there. Says the file, the place in it and what would be right."""


class Server(Part):
    """An MCP server over stdio."""

    command: tuple[str, ...] = Field(min_length=1)
    env: dict[str, str] = {}


class Arm(Part):
    """What an agent has beside the question."""

    name: str
    title: str
    shell: bool = False
    servers: dict[str, Server] = {}
    documents: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """Why the arm can't be run here; None if it can."""
        programs = [*self.needs, *(("bash", "kubectl", "jq", "python3") if self.shell else ())]
        lacking = [program for program in programs if shutil.which(program, path=foreign_path()) is None]
        if lacking:
            return f"not on PATH: {', '.join(lacking)}"
        papers = [path for path in self.documents if not (ROOT / path).is_file()]
        return f"no such file: {', '.join(papers)}" if papers else None

    def commands(self, kubeconfig: Path, snapshot: Path) -> dict[str, Server]:
        """The servers' commands with their places filled in."""
        places = {"{kubeconfig}": str(kubeconfig), "{python}": sys.executable, "{snapshot}": str(snapshot)}

        def put(text: str) -> str:
            for place, value in places.items():
                text = text.replace(place, value)
            return text

        return {
            name: Server(command=tuple(map(put, server.command)), env={key: put(value) for key, value in server.env.items()})
            for name, server in self.servers.items()
        }

    @property
    def reads_snapshot(self) -> bool:
        """Whether a server is given the recording as a file."""
        return any("{snapshot}" in text for server in self.servers.values() for text in (*server.command, *server.env.values()))

    @property
    def brings_ours(self) -> bool:
        """Whether a server is started by the interpreter that runs the evals, with this repository's source."""
        return any("{python}" in text for server in self.servers.values() for text in server.command)

    @property
    def brings_others(self) -> bool:
        """Whether a server is somebody else's program."""
        return any(not any("{python}" in text for text in server.command) for server in self.servers.values())

    def papers(self) -> str:
        """The documents, one after the other."""
        return "\n\n".join((ROOT / path).read_text(encoding="utf-8") for path in self.documents)


def arm(name: str) -> Arm:
    """An arm of the shelf by name, or of a file by path. Raises BadArm."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else SHELF / f"{name}.yaml"
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadArm(f"no arm {name!r}; there are {', '.join(known())}, or the path of a .yaml file") from None
    except (yaml.YAMLError, ValueError) as error:
        raise BadArm(f"{path}: {error}") from None
    try:
        found = Arm.model_validate_json(json.dumps(content, default=str))
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, entry['loc'])) or 'file'}: {entry['msg']}" for entry in error.errors())
        raise BadArm(f"{path}: {told}") from None
    if not _NAME.fullmatch(found.name):
        raise BadArm(f"{path}: name {found.name!r}: letters, digits, dashes, and + between parts")
    return found


def known() -> list[str]:
    """The arms of the shelf."""
    return sorted(path.stem for path in SHELF.glob("*.yaml"))


def foreign_path() -> str:
    """PATH without the folders of this interpreter's environment and of our own command, which only an arm's servers bring."""
    ours = {Path(sys.prefix) / "bin", Path(sys.executable).parent}
    found = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    return os.pathsep.join(folder for folder in found if Path(folder) not in ours and not (Path(folder) / "k8s-topo-mcp").exists())
