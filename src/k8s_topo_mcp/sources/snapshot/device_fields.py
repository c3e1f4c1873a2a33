"""The fields of slices, claims, classes and taint rules."""

from __future__ import annotations

from .parts import AMOUNTS, CONDITIONS, DRIVER, EMPTY, NODE, NODE_SELECTOR, TAINT, TOLERATION, UID, of
from .shape import Attributes, Fields, Items, Keyed, Text, Texts

SELECTORS = Items(of(cel=of(expression=Text("cel"))))
_COUNTERS = Keyed(of("value"))
_CAPACITY = of("value", requestPolicy=of("default", validValues=Texts(), validRange=of("min max step")))
_PLACES = of("allNodes", nodeName=NODE, nodeSelector=NODE_SELECTOR)
_DEVICE_FACTS = Fields(
    {
        **_PLACES.fields,
        **of(
            "bindsToNode allowMultipleAllocations",
            attributes=Attributes(frozenset({"string", "int", "bool", "version", "strings", "ints", "bools", "versions"})),
            capacity=Keyed(_CAPACITY),
            consumesCounters=Items(of("counterSet", counters=_COUNTERS, compatibilityGroups=Texts())),
            taints=Items(TAINT), bindingConditions=Texts(), bindingFailureConditions=Texts(),
            nodeAllocatableResources=Keyed(EMPTY), nodeAllocatableResourceMappings=Keyed(EMPTY),
        ).fields,
    }
)  # fmt: skip
SLICE = Fields(
    {
        **_PLACES.fields,
        **of(
            "perDeviceNodeSelection partitionTypeAttribute",
            driver=DRIVER,
            pool=of("generation resourceSliceCount", name=Text("pool")),
            devices=Items(Fields({"name": Text("device"), "basic": _DEVICE_FACTS, **_DEVICE_FACTS.fields})),
            sharedCounters=Items(of("name", counters=_COUNTERS)), skipNodeOperations=Texts(),
        ).fields,
    }
)  # fmt: skip
_EXACT = of(
    "allocationMode count adminAccess",
    deviceClassName=DRIVER,
    selectors=SELECTORS, tolerations=Items(TOLERATION), capacity=of(requests=AMOUNTS),
    derivedAttributes=Items(of("name", expression=Text("cel"))),
)  # fmt: skip
_REQUEST = Fields(
    {
        "name": Text("request"), "exactly": _EXACT, "firstAvailable": Items(Fields({"name": Text("request"), **_EXACT.fields})),
        **_EXACT.fields,
    }
)  # fmt: skip
CONFIG = Items(of(opaque=of(driver=DRIVER), requests=Texts("request")))
CLAIM_SPEC = of(
    devices=of(
        requests=Items(_REQUEST),
        constraints=Items(of("matchAttribute distinctAttribute", requests=Texts("request"))),
        config=CONFIG,
    )
)
_RESULT = of(
    "adminAccess",
    driver=DRIVER,
    request=Text("request"), pool=Text("pool"), device=Text("device"), shareID=UID, tolerations=Items(TOLERATION),
    consumedCapacity=AMOUNTS,
    bindingConditions=Texts(), bindingFailureConditions=Texts(), skipNodeOperations=Texts(),
)  # fmt: skip
CLAIM_STATUS = of(
    allocation=of("allocationTimestamp", devices=of(results=Items(_RESULT)), nodeSelector=NODE_SELECTOR),
    reservedFor=Items(of("apiGroup resource", name=Text("name", key="resource"), uid=UID)),
    devices=Items(of(driver=DRIVER, pool=Text("pool"), device=Text("device"), shareID=UID, conditions=CONDITIONS)),
)
TAINT_RULE = of(
    taint=TAINT,
    deviceSelector=of(driver=DRIVER, deviceClassName=DRIVER, pool=Text("pool"), device=Text("device"), selectors=SELECTORS),
)
