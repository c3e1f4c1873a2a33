"""`python -m fault_injection lab …`: a real control plane on this machine; `… replay SNAPSHOT`: a fake API server over a snapshot."""

from __future__ import annotations

import sys

from fault_injection.lab.command import main as lab
from fault_injection.replay.command import main as replay

COMMANDS = {"lab": lab, "replay": replay}


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in COMMANDS:
        sys.stderr.write(f"usage: python -m fault_injection {{{','.join(COMMANDS)}}} …\n")
        return 2
    return COMMANDS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
