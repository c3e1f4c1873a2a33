"""The process that owns a lab's programs, so that none of them outlives the harness.

It starts what it is told to on stdin (JSON lines), and when stdin ends, because the harness closed it or died in any way, it kills its
children by their pid, removes the lab's folder and exits. It is run by path with the standard library alone: it has to be up in
milliseconds and to survive whatever breaks in the harness.

    {"start": NAME, "argv": [...], "log": PATH}    {"stop": NAME}
    answers: {"started": NAME, "pid": N}  {"stopped": NAME, "code": N}  {"died": NAME, "code": N}
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from typing import Any

POLL = 0.1
"""Seconds between two looks at the children."""


def main(folder: str) -> int:
    # The harness's terminal is not ours, but a plain `kill` of this process must clean up too.
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: stopping.append(received))
    children: dict[str, subprocess.Popen[bytes]] = {}
    pending = b""
    try:
        while not stopping:
            readable, _, _ = select.select([0], [], [], POLL)
            if readable:
                received = os.read(0, 65536)
                if not received:
                    break
                *lines, pending = (pending + received).split(b"\n")
                for line in lines:
                    _obey(json.loads(line), children)
            for name, child in list(children.items()):
                code = child.poll()
                if code is not None:
                    del children[name]
                    _answer({"died": name, "code": code})
    finally:
        for child in children.values():
            child.kill()
        for child in children.values():
            child.wait()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _obey(order: dict[str, Any], children: dict[str, subprocess.Popen[bytes]]) -> None:
    if "start" in order:
        name = order["start"]
        with open(order["log"], "ab") as log:
            try:
                child = subprocess.Popen(
                    order["argv"],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=os.path.dirname(order["log"]),
                    preexec_fn=_die_with_me,
                )
            except OSError as error:
                _answer({"died": name, "code": error.errno or 1, "error": str(error)})
                return
        children[name] = child
        _answer({"started": name, "pid": child.pid})
    elif "stop" in order:
        child = children.pop(order["stop"], None)
        if child is not None:
            child.kill()
            _answer({"stopped": order["stop"], "code": child.wait()})
        else:
            _answer({"stopped": order["stop"], "code": 0})


def _die_with_me() -> None:
    """Even SIGKILL to the supervisor must not leave its children behind (Linux; elsewhere stdin's end is the only signal)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


def _answer(fact: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the harness may be gone already
        os.write(1, json.dumps(fact).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
