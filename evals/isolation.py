"""What keeps an agent's commands from reading the answer keys: Linux namespaces, made with util-linux's unshare, nsenter and setpriv where
these work; where they don't, an attempt is recorded as not isolated, with the reason.

A model's shell gets a file system of the system's folders and of those where its programs are, an empty /tmp and its own home. A program
that is the agent itself (Claude Code, command:PROGRAM) may be installed anywhere: it keeps the file system, but this repository, its
worktrees, the run's folder and recordings from elsewhere are empty folders in it. Neither sees processes of others (/proc would show
their files and environments), and neither has the rights to undo a mount. The network stays: the way to the cluster is on it, and so is
whatever else this machine reaches.

Source: user_namespaces(7), mount_namespaces(7), pivot_root(2).
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[1]
Wanted = Literal["if-there", "required", "none"]
"""Whether attempts are isolated: where it works, or else they aren't run, or not at all."""

NAMESPACES = "namespaces"
"""How a record says that an attempt was isolated."""
NOT = "not isolated"
"""How a record begins that says why it wasn't."""
BY_HAND = f"{NOT}: by hand"
"""Of a person's attempt."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/nix", "/run/systemd/resolve")
"""What a shell sees, where it is there."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
NEEDS = ("unshare", "nsenter", "setpriv", "mount", "umount", "pivot_root", "bash")
SHELL = ("bash", "kubectl", "jq", "python3")
"""What a shell arm promises: a shell in which one of these doesn't run isn't used."""
WITHOUT_RIGHTS = ("setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")
_SBIN = ":/usr/sbin:/sbin"


class NotIsolated(Exception):
    """It doesn't work here. Says why."""


@dataclass(frozen=True, slots=True)
class Box:
    """The namespaces of one attempt. `process`: their first process, as this machine numbers it."""

    process: int

    def around(self, command: Sequence[str], home: Path) -> list[str]:
        """The command that runs a command in it."""
        enter = ("nsenter", f"--target={self.process}", "--user", "--mount", "--pid", "--ipc", "--preserve-credentials")
        return [*enter, *WITHOUT_RIGHTS, "env", f"--chdir={home}", *command]


def repositories() -> list[Path]:
    """This repository, and its other worktrees: they have the keys too. Raises NotIsolated where git doesn't say."""
    if not (ROOT / ".git").exists():
        return [ROOT]
    asked = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "worktree", "list", "--porcelain"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False) if shutil.which("git") else None
    if told is None or told.returncode:
        raise NotIsolated("git doesn't say which worktrees of this repository there are, and these have the keys too")
    lines = told.stdout.splitlines()
    others = [Path(line.removeprefix("worktree ")) for line in lines if line.startswith("worktree ")]
    return [path for path in dict.fromkeys((ROOT, *others)) if path.is_dir()]


@contextlib.contextmanager
def shell(folder: Path, hidden: Sequence[Path], environment: Mapping[str, str]) -> Iterator[Box]:
    """For commands of a model: they see `folder` (the attempt's) and the system. Raises NotIsolated."""
    path = environment.get("PATH", os.defpath)
    shown = [*map(Path, SYSTEM), *(place for place in _places(path, hidden) if not _under(place, map(Path, SYSTEM)))]
    steps = [
        f"box={shlex.quote(str(folder / 'box'))}",
        'mkdir -p "$box"',
        'mount -t tmpfs -o mode=755 box "$box"',
        *(_show(place) for place in shown if place.exists()),
        *(f'if [ -d "$box"{_quoted(place)} ]; then mount -t tmpfs hidden "$box"{_quoted(place)}; fi' for place in hidden),
        'mkdir -p "$box/tmp" "$box/proc" "$box/dev/shm" "$box/old"',
        'mount -t tmpfs -o mode=1777 tmp "$box/tmp"',
        'mount -t tmpfs -o mode=1777 shm "$box/dev/shm"',
        f'mkdir -p "$box"{_quoted(folder)}',
        f'mount --bind {_quoted(folder)} "$box"{_quoted(folder)}',
        *(f': > "$box/dev/{name}"; mount --bind /dev/{name} "$box/dev/{name}"' for name in DEVICES),
        'ln -s /proc/self/fd "$box/dev/fd"; ln -s fd/0 "$box/dev/stdin"; ln -s fd/1 "$box/dev/stdout"; ln -s fd/2 "$box/dev/stderr"',
        'mount -t proc proc "$box/proc"',
        'cd "$box"',
        "pivot_root . old",
        "umount -l /old",
        "rmdir /old",
    ]
    _reachable(folder, hidden)
    with _opened(steps) as box:
        words = " && ".join((*(f"! test -e {_quoted(place / 'evals' / 'keys.yaml')}" for place in hidden), _runs(SHELL)))
        _try(box, words, environment)
        yield box


@contextlib.contextmanager
def program(folder: Path, hidden: Sequence[Path], kept: Iterable[Path], environment: Mapping[str, str]) -> Iterator[Box]:
    """For an agent that is a program: it sees everything but `hidden`, and of that what is `kept`. Raises NotIsolated."""
    spared = [place for place in dict.fromkeys(kept) if place.exists() and _under(place, hidden)]
    aside = [folder / "kept" / str(number) for number in range(len(spared))]
    steps: list[str] = []
    for place, copy in zip(spared, aside, strict=True):
        make = f"mkdir -p {_quoted(copy)}" if place.is_dir() else f"mkdir -p {_quoted(copy.parent)}; : > {_quoted(copy)}"
        steps += [make, f"mount --rbind {_quoted(place)} {_quoted(copy)}"]
    steps += [f"mount -t tmpfs -o mode=755 hidden {_quoted(place)}" for place in hidden if not _under(place.parent, hidden)]
    for place, copy in zip(spared, aside, strict=True):
        make = f"mkdir -p {_quoted(place)}" if place.is_dir() else f"mkdir -p {_quoted(place.parent)}; : > {_quoted(place)}"
        steps += [make, f"mount --rbind {_quoted(copy)} {_quoted(place)}"]
    steps.append("mount -t proc proc /proc")
    _reachable(folder, hidden)
    with _opened(steps) as box:
        _try(box, " && ".join(f"! test -e {_quoted(place / 'evals' / 'keys.yaml')}" for place in hidden) or "true", environment)
        yield box


def _reachable(folder: Path, hidden: Sequence[Path]) -> None:
    """Raises NotIsolated where what is to be hidden has the attempt's own folder in it."""
    around = [place for place in hidden if _under(folder, (place,))]
    if around:
        raise NotIsolated(f"attempts have their folders in {around[0]}; take another --out or TMPDIR")


def lacking() -> str | None:
    """What it needs that isn't here, as far as PATH tells."""
    found = [name for name in NEEDS if shutil.which(name, path=os.environ.get("PATH", os.defpath) + _SBIN) is None]
    return f"not on PATH: {', '.join(found)}" if found else None


@contextlib.contextmanager
def _opened(steps: Sequence[str]) -> Iterator[Box]:
    """The namespaces with their mounts, as long as this is open and this process lives: their first process reads a pipe of ours, and all
    that run in them end with it."""
    if (wrong := lacking()) is not None:
        raise NotIsolated(wrong)
    script = "\n".join(("set -eu", "read -r process _ < /proc/self/stat", *steps, "mount -o remount,bind,ro /proc", "echo $process"))
    own = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--ipc"]
    child = subprocess.Popen(
        [*own, "bash", "-c", f"{script}\nexec {shlex.join(WITHOUT_RIGHTS)} cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd="/",
        env={"PATH": os.environ.get("PATH", os.defpath) + _SBIN, "LC_ALL": "C"},
        start_new_session=True,
    )
    try:
        assert child.stdout is not None
        assert child.stderr is not None
        told = child.stdout.readline().strip()
        if not told.isdigit():
            child.kill()
            raise NotIsolated((child.stderr.read().strip().splitlines() or ["the namespaces didn't open"])[-1][:200])
        yield Box(int(told))
    finally:
        child.kill()
        child.communicate()


def _try(box: Box, words: str, environment: Mapping[str, str]) -> None:
    """Raises NotIsolated unless this is so in it."""
    done = subprocess.run(
        box.around(["bash", "-c", words], Path("/")), env=dict(environment), capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        raise NotIsolated((done.stderr.strip().splitlines() or ["in it the keys are still there"])[-1][:200])


def _runs(programs: Sequence[str]) -> str:
    """A command that fails, and says of which, where one of these can't be started."""
    tried = {"bash": "bash -c :", "kubectl": "kubectl version --client", "jq": "jq -n 1", "python3": "python3 -c 'import json'"}
    return " && ".join(f"{{ {tried[name]} > /dev/null 2>&1 || {{ echo {name} does not run in it >&2; false; }}; }}" for name in programs)


def _show(place: Path) -> str:
    """Put a place into the box, to be read; what is a link stays one."""
    at = _quoted(place)
    if place.is_symlink():
        return f'mkdir -p "$box"{_quoted(place.parent)}; cp -P {at} "$box"{at}'
    return f'mkdir -p "$box"{at}; mount --rbind {at} "$box"{at}; mount -o remount,bind,ro "$box"{at} 2> /dev/null || true'


def _places(path: str, hidden: Sequence[Path]) -> list[Path]:
    """Where these programs are installed; of a python with what stands beside it, as that has its libraries."""
    found = [Path(place) for name in SHELL if (place := shutil.which(name, path=path))]
    python = [_prefix(place.resolve().parent, hidden) for place in found if place.name == "python3"]
    shims = [_prefix(place.parent, hidden) for place in found if place.parent.name == "shims"]
    folders = (*(place.parent for place in found), *(place.resolve().parent for place in found), *python, *shims)
    return list(dict.fromkeys(folder for folder in folders if folder.is_absolute() and folder.is_dir()))


def _prefix(folder: Path, hidden: Sequence[Path]) -> Path:
    """The folder that a folder of programs belongs to; itself where that would show a home, or what is hidden."""
    above = folder.parent
    taken = (Path("/"), Path.home(), *hidden)
    whole = folder.name in ("bin", "shims") and not any(place == above or above in place.parents for place in taken)
    return above if whole else folder


def _under(place: Path, folders: Iterable[Path]) -> bool:
    return any(folder == place or folder in place.parents for folder in folders)


def _quoted(place: Path) -> str:
    return shlex.quote(str(place))
