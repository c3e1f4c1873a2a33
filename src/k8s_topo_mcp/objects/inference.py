"""InferencePool of the Gateway API's inference extension (inference.networking.k8s.io v1, inference.networking.x-k8s.io v1alpha2):
which pods serve one model. Thin: only the selector, as no other part says anything of devices.
"""

from __future__ import annotations

from typing import ClassVar

from .decoding import DecodeError, Json, mapping, string_map
from .label_selector import LabelSelector, decode_label_selector
from .meta import ApiObject, decode_metadata
from .record import record


@record(weakref_slot=True)
class InferencePool(ApiObject):
    """`selector` selects pods of the pool's own namespace; None where the pool has none, which selects nothing."""

    KIND: ClassVar[str] = "InferencePool"

    selector: LabelSelector | None = None


def decode_inference_pool(item: Json) -> InferencePool:
    """An InferencePool out of its JSON. The selector of v1 is an object with matchLabels, that of v1alpha2 the labels themselves."""
    metadata = decode_metadata(item, namespaced=True)
    spec = mapping(item, "spec")
    try:
        source = mapping(spec, "selector")
        if not source:
            return InferencePool(metadata)
        nested = isinstance(source.get("matchLabels"), dict)
        return InferencePool(metadata, decode_label_selector(source) if nested else LabelSelector(string_map(spec, "selector")))
    except DecodeError as error:
        raise error.under("spec") from None
