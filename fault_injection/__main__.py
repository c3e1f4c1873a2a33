"""`python -m fault_injection lab …`: a real control plane on this machine; `… replay SNAPSHOT`: a fake API server over a snapshot;
`… list | inject | verify | record | ask | clean`: the fault library."""

from __future__ import annotations

import importlib
import sys

ROOMS = {"lab": "lab", "replay": "replay", **dict.fromkeys(("list", "inject", "verify", "record", "ask", "clean"), "library")}
"""command → where it is; its module is loaded when it is asked for."""


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in ROOMS:
        sys.stderr.write(f"usage: python -m fault_injection {{{','.join(ROOMS)}}} …\n")
        return 2
    room = ROOMS[arguments[0]]
    command = importlib.import_module(f"fault_injection.{room}.command")
    return command.main(arguments if room == "library" else arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
