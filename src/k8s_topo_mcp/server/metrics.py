"""What `/metrics` says, in Prometheus' text form: the state of the cluster as the tools see it, and the calls.

The cluster's part is worked out from the view when somebody asks, at most every `EVERY` seconds and by one thread at a time; between that
the last text is given. Labels are cleaned and bounded: a hostile cluster can't make more series than `MOST` a name.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from k8s_topo_mcp.diagnosis.stock import stock
from k8s_topo_mcp.diagnosis.triage import waiting_groups
from k8s_topo_mcp.diagnosis.zombies import zombies
from k8s_topo_mcp.objects import DeviceClass, Node, Pod, ResourceClaim, ResourceSlice
from k8s_topo_mcp.server.calls import Call
from k8s_topo_mcp.sources.source import Source, SourceError
from k8s_topo_mcp.tools.asked import label

if TYPE_CHECKING:
    from prometheus_client.core import Metric

EVERY = 15.0
"""Seconds for which what was worked out is given again."""
MOST = 40
"""Series of one name."""
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts calls and describes the cluster of one source."""

    def __init__(self, source: Source, tools: Iterable[str], every: float = EVERY) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram

        self._source = source
        self._tools = frozenset(tools)
        self._every = every
        self._lock = threading.Lock()
        self._said: list[Metric] = []
        self._at = float("-inf")
        self.registry = CollectorRegistry()
        self._calls = Counter("k8s_topo_calls", "Calls by tool and how they ended", ["tool", "status"], registry=self.registry)
        self._seconds = Histogram("k8s_topo_call_seconds", "Time of a call", ["tool"], registry=self.registry, buckets=BUCKETS)
        self.registry.register(self)

    def __call__(self, call: Call) -> None:
        """Count one call."""
        tool = call.tool if call.tool in self._tools else "other"
        self._calls.labels(tool, call.status).inc()
        self._seconds.labels(tool).observe(call.seconds)

    def text(self) -> bytes:
        """All of it. Blocks while the view is read: to be called on a worker thread."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)

    def describe(self) -> list[Metric]:
        """Nothing: registering must not read the cluster."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The cluster's part."""
        with self._lock:
            if time.monotonic() - self._at >= self._every:
                self._said = list(self._cluster())
                self._at = time.monotonic()
            yield from self._said

    def _cluster(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        def gauge(name: str, text: str, labels: tuple[str, ...], values: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
            family: Any = GaugeMetricFamily(f"k8s_topo_{name}", text, labels=labels)
            for said, value in list(values)[:MOST]:
                family.add_metric([label(part) for part in said], value)
            return family

        try:
            view = self._source.view()
        except SourceError:
            yield gauge("source_up", "1 where the cluster could be read", (), [((), 0.0)])
            return
        yield gauge("source_up", "1 where the cluster could be read", (), [((), 1.0)])
        if view.source.kind == "live" and view.source.as_of is not None:
            age = max(0.0, view.now - view.source.as_of)
            yield gauge("source_age_seconds", "How old the oldest of what is known may be", (), [((), age)])
        unreadable = Counter(entry.kind for entry in view.unreadable)
        yield gauge("unreadable_kinds", "Kinds that can't be read", ("kind",), (((kind,), 1.0) for kind in sorted(unreadable)))
        counted = ((kind.KIND, view.count(kind)) for kind in (Node, Pod, ResourceClaim, ResourceSlice))
        yield gauge("objects", "Objects known", ("kind",), (((kind,), float(count)) for kind, count in counted))
        groups = waiting_groups(view, [pod for pod in view.all(Pod) if pod.is_pending])
        pending, verdicts = Counter[str](), Counter[str]()
        for group in groups:
            pending[group.code] += len(group.pods)
            verdicts[group.judged.word] += len(group.pods)
        yield gauge("pending_pods", "Pods that wait to be scheduled, by what holds them", ("code",), _largest(pending))
        yield gauge("pending_pods_by_verdict", "The same pods by what that means", ("verdict",), _largest(verdicts))
        stocks = [stock(view, entry.name, 0, places=()) for entry in view.all(DeviceClass)[:MOST]]
        states = ("held", "shared", "split", "tainted", "free")
        yield gauge(
            "devices", "Devices by class and state", ("device_class", "state"),
            (((entry.device_class, state), float(getattr(entry, state))) for entry in stocks[: MOST // len(states)] for state in states),
        )  # fmt: skip
        yield gauge(
            "largest_free", "Devices of the largest claim for one class that still fits on one node, where known", ("device_class",),
            (((entry.device_class,), float(entry.node)) for entry in stocks if not entry.at_least),
        )  # fmt: skip
        yield gauge(
            "cordoned_free_devices", "Free devices on cordoned nodes", ("device_class",),
            (((entry.device_class,), float(entry.cordoned)) for entry in stocks),
        )  # fmt: skip
        forsaken = zombies(view, ())
        yield gauge("stranded_devices", "Devices of claims whose pods are gone", (), [((), float(forsaken.devices))])
        yield gauge("stranded_claims", "Claims that hold devices for no pod", (), [((), float(len(forsaken.claims)))])


def _largest(counts: Counter[str]) -> list[tuple[tuple[str, ...], float]]:
    return [((name,), float(count)) for name, count in sorted(counts.most_common(MOST))]
