"""Anonymisation: objects in which names are replaced by aliases before anything else sees them, so that answers can hold no other.

Replaced: names of nodes, namespaces and everything in them, of pools named after nodes, volumes, priority, storage and runtime classes,
queues, containers, requests, label values that may be names, host names, addresses, provider ids, volume handles, image registries, lease
holders, UUIDs and serial numbers of devices; and the same wherever messages of events and conditions say them. Kept, because rules read
it or because it names a product: kinds, label keys, taint keys, resource names, device classes, drivers, device names, products, versions,
quantities, PCI addresses, times, CEL (names in its literals are replaced like elsewhere).

Free text is rewritten by what is known of the cluster and by patterns (UUIDs, addresses, host names, images, users). What a driver writes
into a message beyond that stays: read a snapshot before you publish it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ...objects.autoscaler_program import NAMING_FLAGS, UNREAD
from ...objects.autoscaler_status import written_anew
from ...objects.cluster_api import CAPACITY, MAX_SIZE, MIN_SIZE
from .aliases import Aliases, is_plain
from .fields import kept
from .shape import Role
from .write import Facts, entries

KEPT_LABELS = frozenset(
    """
    kubernetes.io/os kubernetes.io/arch beta.kubernetes.io/os beta.kubernetes.io/arch node.kubernetes.io/instance-type
    beta.kubernetes.io/instance-type karpenter.sh/capacity-type cloud.google.com/gke-accelerator cloud.google.com/gke-tpu-accelerator
    cloud.google.com/gke-tpu-topology resource.kubernetes.io/admin-access pod-security.kubernetes.io/enforce
    """.split()
) | {MIN_SIZE, MAX_SIZE, *(CAPACITY + key for key in ("cpu", "memory", "ephemeral-disk", "maxPods", "gpu-type", "gpu-count", "dra-driver"))}
_PAIRS = frozenset((CAPACITY + "labels", CAPACITY + "taints"))
"""Annotations that hold "key=value,…": labels, or taints with ":effect"."""
_VALUE_PARTS = re.compile(r"[^=:,;\s]+")
_WORD_OF_FLAGS = frozenset("asg mig label tag clusterapi namePrefix min max namespace clusterName".split())
VENDORS = frozenset("nvidia amd intel rocm habana google tpu aws neuron mellanox xilinx kubernetes sigs k8s gke eks".split())
_HARDWARE = re.compile(r"(?:^|\.)(?:nvidia|amd|intel|habana|mellanox|xilinx)\.(?:com|ai)/|^feature\.node\.kubernetes\.io/")
_PARTS = frozenset(
    """
    dra driver kubelet plugin device gpu nic tpu npu fpga rdma sriov cni csi operator feature discovery controller daemonset ds mig imex
    domain compute
    """.split()
)
"""Words of DaemonSets' names that say which driver they are; rules recognise a driver by them."""

_UUID = re.compile(r"\b(?:(?:GPU|MIG|DOM)-)?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_ADDRESS = re.compile(r"(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|(?<![\w.:])(?:[0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F:]*[0-9a-fA-F](?![\w:])")
_MAC = re.compile(r"\b(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}\b")
_HOST = re.compile(
    r"(?:(?<=//)|(?<![\w./-]))(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|net|org|io|dev|cloud|internal|local|corp|lan|intra|ai|co|eu|de|uk|fr|us|cn|jp)\b"
    r"(?![\w/])"
)
_USER = re.compile(r'\b([Uu]ser(?:name)?[ =:]+)"([^"]{1,200})"')
_IMAGE = re.compile(r'\b(image[ =:]+)"([^"\s]{1,400})"')
_EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_IDENTIFYING = re.compile(r"uuid|serial|guid|mac(?:addr|$)|hostname|hostid|machine|asset", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")
_DEVICE = re.compile(r"(?<![\w./-])(?P<driver>[\w-]+(?:\.[\w-]+)+)/(?P<pool>[\w.-]*\w)/(?P<device>[\w-]*\w)|" + _TOKEN.pattern)
_LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"")
_WORD = re.compile(r"[a-z]+\Z")
_EVERYWHERE = frozenset(("0.0.0.0", "127.0.0.1", "::", "::1"))
_NOUNS = frozenset(
    "node pod pods request subrequest claim resourceclaim container namespace podgroup job workload queue owner volume claims".split()
)
"""After these a bare word is a name."""
_SURE = ("node-", "ns-", "app-", "volume-", "id-", "host-", "registry-", "user-", "handle-")


class Anonymiser:
    """Rewrites one object after another; call it as the `rewrite` of `fields.kept`."""

    def __init__(self, aliases: Aliases | None = None) -> None:
        self.aliases = aliases or Aliases()
        self._literals: set[str] = set()
        self._terms: set[str] = set()
        self._devices: set[str] = set()
        self._ephemeral: dict[str, tuple[str, str]] = {}

    def object(self, item: Mapping[str, Any]) -> dict[str, Any] | None:
        """The object under aliases, cut down to what is read; None for a kind that isn't."""
        self.note(item)
        return kept(item, self)

    def text(self, text: str) -> str:
        """A note or a reason, with aliases for what it names."""
        return self._message(text)

    def cluster(self, name: str) -> str:
        """An alias for a cluster or a context."""
        return self("cluster scoped", "Cluster", name)

    def note(self, item: Mapping[str, Any]) -> None:
        """A claim for a pod's ephemeral volume is found by its name, "pod-volume" (component-helpers ephemeral.VolumeClaimName): so must
        its alias be."""
        if item.get("kind") != "PersistentVolumeClaim" or not isinstance(metadata := item.get("metadata"), dict):
            return
        name = cast(dict[str, Any], metadata).get("name")
        for owner in cast(list[Any], cast(dict[str, Any], metadata).get("ownerReferences") or []):
            pod = cast(dict[str, Any], owner).get("name") if isinstance(owner, dict) else None
            if isinstance(name, str) and isinstance(pod, str) and name.startswith(f"{pod}-"):
                self._ephemeral[name] = (pod, name[len(pod) + 1 :])

    def __call__(self, role: Role, detail: str, text: str) -> str:
        """The text to write for one of that role."""
        match role:
            case "plain":
                return text
            case "term":
                self._terms.add(text)
                return text
            case "cel":
                return self._cel(text)
            case "name":
                return self._name(detail, text)
            case "node" | "namespace" | "pool" | "container" | "volume" | "handle" | "host" | "provider":
                return self.aliases.alias(_WORD_OF[role], text)
            case "cluster scoped":
                return self.aliases.alias(_WORD_OF_KIND.get(detail, "class"), text)
            case "uid" | "identity":
                return self._in_parts("id", text) if role == "identity" else self.aliases.alias("id", text)
            case "request":
                return "/".join(self.aliases.alias("request", part) for part in text.split("/"))
            case "label":
                return self._label(detail, text)
            case "attribute":
                return self._attribute(detail, text)
            case "device":
                self._devices.add(text)
                return self._identities(text)
            case "image":
                return self._image(text)
            case "path":
                return text if text.startswith("/var/lib/kubelet/") else "/path"
            case "address":
                return text if text in _EVERYWHERE else self.aliases.alias("ip", text)
            case "holder":
                return "_".join(self.aliases.alias("id" if _UUID.fullmatch(part) else "host", part) for part in text.split("_"))
            case "message":
                return self._message(text)
            case "flag":
                return self._flag(text)
            case "status":
                return written_anew(text, self._group_name, self._message)

    def _flag(self, text: str) -> str:
        """A flag of an autoscaler: names in its value under aliases, everything else as it is."""
        name, given, value = text.partition("=")
        if not given or value == UNREAD or name.lstrip("-") not in NAMING_FLAGS:
            return text
        return name + given + _VALUE_PARTS.sub(lambda found: self._flag_word(found[0]), value)

    def _flag_word(self, word: str) -> str:
        return word if word in _WORD_OF_FLAGS or "k8s.io" in word else self._label("", word)

    def _group_name(self, text: str) -> str:
        """A node group's name; Cluster API's is "Kind/namespace/name"."""
        kind, namespace, name = (*text.split("/"), "", "")[:3]
        if text.count("/") == 2 and kind.startswith("Machine"):
            return f"{kind}/{self.aliases.alias('ns', namespace)}/{self._name(kind, name)}"
        return self._label("", text)

    def _pairs(self, text: str) -> str:
        parts: list[str] = []
        for pair in text.split(","):
            key, equals, rest = pair.partition("=")
            value, colon, effect = rest.partition(":")
            parts.append(f"{key}{equals}{self._label(key, value) if value else ''}{colon}{effect}")
        return ",".join(parts)

    def _cel(self, text: str) -> str:
        if self.aliases.collecting:
            self._literals.update(one or other for one, other in _LITERAL.findall(text))
            return text
        return _LITERAL.sub(self._literal, text)

    def _literal(self, found: re.Match[str]) -> str:
        """A name or an id in a CEL literal, under the alias that it has elsewhere. A bare word stays: it may be any vocabulary."""
        text = found[1] if found[1] is not None else found[2]
        alias = self.aliases.known(text)
        if alias is None or not alias.startswith(("node-", "id-", "ns-", "app-")) or _WORD.match(text) or self._is_vocabulary(text):
            return found[0]
        return f"{found[0][0]}{alias}{found[0][0]}"

    def _name(self, kind: str, text: str) -> str:
        match kind:
            case "Node" | "nodes":
                return self.aliases.alias("node", text)
            case "Namespace":
                return self.aliases.alias("ns", text)
            case "PersistentVolume":
                return self.aliases.alias("volume", text)
            case "DeviceClass" | "CSIDriver":
                return text
            case "PersistentVolumeClaim" if text in self._ephemeral:
                pod, mount = self._ephemeral[text]
                return f"{self.aliases.alias('app', pod)}-{self.aliases.alias('mount', mount)}"
            case "DaemonSet":
                alias = self.aliases.alias("app", text)
                words = [word for word in re.split(r"[^a-z0-9]+", text.lower()) if word in _PARTS or word in VENDORS]
                return "-".join((alias, *words)) if alias != text or self.aliases.collecting else text
            case _:
                return self.aliases.alias("app", text)

    def _label(self, key: str, text: str) -> str:
        if key in KEPT_LABELS or is_plain(text):
            return text
        if key in _PAIRS:
            return self._pairs(text)
        if _HARDWARE.search(key):
            return self._identities(text)
        if (known := self.aliases.known(text)) is not None:
            return known
        return self.aliases.alias("id" if _UUID.fullmatch(text) else "value", text)

    def _attribute(self, name: str, text: str) -> str:
        if is_plain(text):
            return text
        if _IDENTIFYING.search(name) or _MAC.fullmatch(text) or _ADDRESS.fullmatch(text):
            if any(len(literal) > 2 and literal in text and literal != text for literal in self._literals):
                return text  # a selector asks for a part of it
            return self.aliases.alias("id", text)
        alias = self.aliases.known(text)
        if alias is not None and alias.startswith("node-") and not _WORD.match(text):
            return alias
        return self._identities(text)

    def _identities(self, text: str) -> str:
        """The text with aliases for the UUIDs in it."""
        return _UUID.sub(lambda found: self.aliases.alias("id", found[0]), text)

    def _in_parts(self, word: str, text: str) -> str:
        """ "<uuid>.<number>" and the like, part by part."""
        return ".".join(self.aliases.alias(word, part) for part in text.split("."))

    def _image(self, text: str) -> str:
        """Registry and path under one alias; the last part, the tag and the vendors' names in the path stay, by which a driver is known."""
        path, _, name = text.rpartition("/")
        name = name.partition("@")[0]
        if not path:
            return name
        vendors = [word for word in re.split(r"[^a-z0-9]+", path.lower()) if word in VENDORS]
        return "/".join((self.aliases.alias("registry", path), *vendors, name))

    def _message(self, text: str) -> str:
        if self.aliases.collecting:
            return text  # what only messages name gets its alias when it is met
        text = _USER.sub(lambda found: f'{found[1]}"{self.aliases.alias("user", found[2])}"', text)
        text = _IMAGE.sub(lambda found: f'{found[1]}"{self._image(found[2])}"', text)
        text = _EMAIL.sub(lambda found: self.aliases.alias("user", found[0]), text)
        text = self._identities(text)
        text = _ADDRESS.sub(lambda found: found[0] if found[0] in _EVERYWHERE else self.aliases.alias("ip", found[0]), text)
        text = _HOST.sub(self._host, text)

        def replaced(found: re.Match[str]) -> str:
            driver = found["driver"]
            if driver is None:
                return self._word(found[0], text, found.start(), found.end())
            if driver in self._terms:
                return f"{driver}/{self.aliases.alias('pool', found['pool'])}/{self._identities(found['device'])}"
            start = found.start()
            return _TOKEN.sub(lambda part: self._word(part[0], text, start + part.start(), start + part.end()), found[0])

        return _DEVICE.sub(replaced, text)

    def _host(self, found: re.Match[str]) -> str:
        if (known := self.aliases.known(found[0])) is not None:
            return known
        return found[0] if self._is_vocabulary(found[0]) else self.aliases.alias("host", found[0])

    def _is_vocabulary(self, text: str) -> bool:
        """A driver or device class of this cluster, a domain of Kubernetes or of hardware makers."""
        return (
            text in self._terms
            or text.endswith((".k8s.io", "kubernetes.io"))
            or bool(re.search(r"(?:^|\.)(?:nvidia|amd|intel|google|habana)\.(?:com|ai)\Z", text))
        )

    def _word(self, word: str, text: str, start: int, end: int) -> str:
        """A token of a message. A bare word is replaced only where it must be a name: in quotes, beside a slash, as a taint's value."""
        before, after = text[start - 1 : start], text[end : end + 1]
        if word in self._terms or ("." in word and self._is_vocabulary(word)):
            return word
        if before == "/" and self._is_vocabulary(re.split(r"[^\w.-]", text[: start - 1])[-1]):
            return word  # a resource, an attribute: nvidia.com/gpu
        if word in self._devices and not self._is_sure(word):
            return word
        alias = self._name("PersistentVolumeClaim", word) if word in self._ephemeral else self.aliases.known(word)
        if alias is None and "-" in word:
            stem = max((part for part in _stems(word) if self._is_sure(part)), key=len, default="")
            if stem and not is_plain(word):
                return self.aliases.alias("app", word)  # a pod of an owner that is known
        if alias is None or is_plain(word):
            return word
        if _WORD.match(word):
            named = text[:start].rstrip().rpartition(" ")[2].lower() in _NOUNS and before == " "
            named = named or (before in "\"'" and before == after) or before == "/" or after == "/" or (after == "}" and before == " ")
            return alias if named and before else word
        return alias if alias.startswith(_SURE) or before in "\"'/ " or before == "" else word

    def _is_sure(self, text: str) -> bool:
        alias = self.aliases.known(text)
        return alias is not None and alias.startswith(_SURE) and not _WORD.match(text)


_WORD_OF: Mapping[str, str] = {
    "node": "node", "namespace": "ns", "pool": "pool", "container": "container", "volume": "mount", "handle": "handle", "host": "host",
    "provider": "handle",
}  # fmt: skip
_WORD_OF_KIND: Mapping[str, str] = {
    "Cluster": "cluster", "ClusterQueue": "queue", "NodePool": "nodepool", "ResourceFlavor": "flavor", "Topology": "topology",
}  # fmt: skip
"""For kinds without namespace; "class" for the others."""


def _stems(word: str) -> Iterable[str]:
    parts = word.split("-")
    return ("-".join(parts[:count]) for count in range(1, len(parts)))


def anonymised(facts: Facts, items: Sequence[Mapping[str, Any]], anonymiser: Anonymiser) -> Iterable[dict[str, Any]]:
    """What `write.entries` gives, under aliases whose order is that of the names. Walks the items twice."""
    for item in items:
        anonymiser.note(item)
    anonymiser.aliases.collect()
    for _ in entries(facts, items, anonymiser):
        pass
    anonymiser.aliases.settle()
    return entries(facts, items, anonymiser)
