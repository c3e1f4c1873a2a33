"""How fast this machine is just now, for comparing figures of two runs: a virtual machine isn't as fast every hour.

python -m benchmarks.machine
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

ROUNDS = 9


def fixed_work() -> float:
    """Milliseconds of a processor for a fixed piece of work, in a process of its own: nothing that this one has in memory slows it."""
    return float(subprocess.run([sys.executable, "-m", "benchmarks.machine"], capture_output=True, text=True, check=True).stdout)


def main() -> int:
    text = json.dumps([{"name": f"pod-{number * 7919 % 20_000}", "labels": {"app": str(number % 97)}} for number in range(20_000)])
    spent: list[float] = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        groups: dict[str, list[str]] = {}
        for item in json.loads(text):
            groups.setdefault(item["labels"]["app"], []).append(item["name"])
        for names in groups.values():
            names.sort()
        spent.append((time.thread_time() - began) * 1000)
    print(f"{sorted(spent)[ROUNDS // 2]:.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
