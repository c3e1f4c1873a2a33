"""Asks Karpenter's DRA allocator whether a new node would do: rows in, answers out, in order.

A row has `labels` of the node, its `template` (ResourceSlices as its drivers would publish them) and `bindings` (attribute, devices), the
`slices` of the cluster, `allocated` devices and `consumed` shares of them, `classes` and `claims`, all API JSON. One NodeClaim, one
instance type, no other pods.

The answer has `kind`: allocated (with `devices` by claim), none, refused (before the search; `error` says why), timeout (Karpenter ends a
search after 5 s), panic, or input for a row that can't be read.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from .build import build

Row = dict[str, Any]
Answer = dict[str, Any]
ASKED = ("id", "labels", "template", "bindings", "slices", "allocated", "consumed", "classes", "claims")
_BATCH = 200


def judge(rows: Iterable[Row]) -> Iterator[Answer]:
    """Karpenter's answer to each row."""
    binary = build()
    source = iter(rows)
    while batch := list(islice(source, _BATCH)):
        text = "".join(json.dumps({key: row[key] for key in ASKED}, separators=(",", ":")) + "\n" for row in batch)
        done = subprocess.run([str(binary)], input=text, stdout=subprocess.PIPE, text=True, check=True)
        for line in done.stdout.splitlines():
            yield json.loads(line)
