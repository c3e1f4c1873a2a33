"""Asks the real scheduler's filters: rows in, answers out, in order.

A row has `nodes`, `pods` (bound ones, and those nominated to a node), `pod` (the incoming one), `namespaces`, `persistentVolumeClaims`,
`persistentVolumes`, `storageClasses`, `csiNodes`, `csiDrivers`, `csiStorageCapacities`, `volumeAttachments`, `podDisruptionBudgets`,
`deviceClasses`, `resourceSlices` and `resourceClaims`, each a list of API objects as JSON with the defaults that the API server would
have filled in.

The answer has `preFilter` {plugin, code, reasons} when a PreEnqueue or PreFilter refuses the pod, else `nodes`: by name the first filter
that refuses {plugin, code, reasons}, code Success when none does (with nominated pods, as the scheduler does it); `only` names the nodes
that were looked at, if not all. Where no node will do, `sentence` is what the scheduler writes, preemption included, and `nominated` the
node that it chose to evict pods from. `error` is for a row that can't be judged.
"""

from __future__ import annotations

import json
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from .build import NEWEST, build

Row = dict[str, Any]
Answer = dict[str, Any]
_BATCH = 200


def judge(rows: Iterable[Row], minor: str = NEWEST) -> Iterator[Answer]:
    """The answer of that minor's filters to each row."""
    binary = build(minor)
    source = iter(rows)
    waiting: deque[Future[list[Answer]]] = deque()
    with ThreadPoolExecutor(1) as ahead:  # the oracle works on the next batch while the caller looks at this one
        while batch := list(islice(source, _BATCH)):
            waiting.append(ahead.submit(_answers, binary, batch))
            if len(waiting) > 1:
                yield from waiting.popleft().result()
        for rest in waiting:
            yield from rest.result()


def _answers(binary: Path, batch: list[Row]) -> list[Answer]:
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in batch)
    done = subprocess.run([str(binary)], input=text, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
