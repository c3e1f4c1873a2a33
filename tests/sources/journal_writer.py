"""A process that writes a journal until it is killed: `python -m tests.sources.journal_writer PATH [LIMIT_OF_FILE_SIZE]`.

It prints, after each batch that is surely written, how many changes it has told by then; `gone` when writing has stopped.
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path

from k8s_topo_mcp.sources.journal import open_journal
from tests.history.objects import NOON, edited, made, node


def main() -> None:
    path = Path(sys.argv[1])
    if len(sys.argv) > 2:
        # As a full disk would: no file of this process grows beyond the limit.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    journal = open_journal(path, "c", lambda: NOON)
    states = [made(edited(node(), "metadata.labels", {"step": str(number)})) for number in range(2)]
    journal.changed(None, states[0], NOON)
    told = 0
    while True:
        for _ in range(50):
            told += 1
            journal.changed(states[(told + 1) % 2], states[told % 2], NOON + told / 1000)
        if not journal.flush():
            raise SystemExit("the writer hangs")
        stopped = [note for note in journal.notes if "nothing could be written since" in note]
        print(f"gone {stopped[0]}" if stopped else told, flush=True)


if __name__ == "__main__":
    main()
