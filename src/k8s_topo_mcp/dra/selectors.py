"""Class and request selectors against the devices of a slice, judged once per slice and kept.

Rule: isSelectable and selectorsMatch in structured/internal/*/allocator_*.go. The class's selectors run first, then the request's; the
first that is false ends it, an error is fatal once the search reaches the device.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..cel import CompileError, DeviceValues, Environment, EvaluationError, Program, Reads, compile_selector
from ..objects import Device, DeviceClass, ResourceSlice, Selector
from ..view import derived
from ..view.keeping import make_room
from .bindings import unknown_attributes
from .outcome import SelectorFailure, Undetermined

Verdict = bool | SelectorFailure | Undetermined
Judgement = bool | EvaluationError | tuple[str, ...]
"""What a selector, or a part of it, says of a device; names of attributes where that depends on values that aren't known."""

_KEPT_PER_SLICE = 64


@dataclass(frozen=True, slots=True)
class SelectorChain:
    """The selectors of one request in the order in which they run. Hashable: it names a judgement of a slice."""

    environment: Environment
    of_class: tuple[str | None, ...]
    of_request: tuple[str | None, ...]

    @property
    def all(self) -> tuple[tuple[str, int, str | None], ...]:
        """(source, index, expression) in order."""
        return (
            *(("class", index, expression) for index, expression in enumerate(self.of_class)),
            *(("claim", index, expression) for index, expression in enumerate(self.of_request)),
        )


def chain(environment: Environment, device_class: DeviceClass, selectors: tuple[Selector, ...]) -> SelectorChain:
    return SelectorChain(
        environment,
        tuple(selector.expression for selector in device_class.selectors),
        tuple(selector.expression for selector in selectors),
    )


def values_of(device: Device, driver: str) -> DeviceValues:
    """A device as CEL sees it."""
    return DeviceValues(
        driver,
        device.attributes,
        {name: capacity.value for name, capacity in device.capacity.items()},
        device.allow_multiple_allocations,
    )


def slice_values(entry: ResourceSlice) -> tuple[DeviceValues, ...]:
    return derived(entry, "cel values", lambda: tuple(values_of(device, entry.driver) for device in entry.devices))


def _judgements(entry: ResourceSlice) -> dict[object, tuple[object, ...]]:
    return derived(entry, "judgements", dict[object, tuple[object, ...]])


def share_judgements(original: ResourceSlice, copy: ResourceSlice) -> None:
    """For a slice with the same driver, devices and bindings: what selectors say of the one they say of the other."""
    derived(copy, "cel values", lambda: slice_values(original))
    derived(copy, "judgements", lambda: _judgements(original))


def may_pass(verdict: Verdict) -> bool:
    """Whether a device isn't ruled out."""
    return verdict is True or isinstance(verdict, Undetermined)


def selector_verdicts(entry: ResourceSlice, expression: str, environment: Environment) -> tuple[Judgement, ...] | CompileError:
    """One selector against every device of the slice."""
    program = compile_selector(expression, environment)
    if isinstance(program, CompileError):
        return program
    kept = _judgements(entry)
    found = kept.get((expression, environment))
    if found is None:
        found = tuple(program.evaluate(values) for values in slice_values(entry))
        if entry.bindings:
            unknown = unknown_attributes(entry)
            found = tuple(
                _combined(_parts(program, values, names)) if names else known
                for known, values, names in zip(found, slice_values(entry), unknown, strict=True)
            )
        _keep(kept, (expression, environment), found)
    return found  # type: ignore[return-value]


def conjunct_verdicts(entry: ResourceSlice, expression: str, environment: Environment) -> tuple[tuple[Judgement, ...], ...] | CompileError:
    """Per device the verdict of every `&&` operand of the selector."""
    program = compile_selector(expression, environment)
    if isinstance(program, CompileError):
        return program
    if entry.bindings:
        unknown = unknown_attributes(entry)
        return tuple(_parts(program, values, names) for values, names in zip(slice_values(entry), unknown, strict=True))
    return tuple(program.evaluate_conjuncts(values) for values in slice_values(entry))


def unknown_reads(reads: Reads, names: frozenset[str]) -> tuple[str, ...]:
    """Those of a device's unknown attributes that an expression looks at; all of them where it isn't known what it looks at."""
    if not reads.complete:
        return tuple(sorted(names))
    return tuple(sorted({path.qualified_name for path in reads.paths if path.kind == "attribute"} & names))


def _parts(program: Program, values: DeviceValues, names: frozenset[str]) -> tuple[Judgement, ...]:
    """Each operand of the selector on a device with attributes of unknown value. That such an attribute is there is known."""
    found: list[Judgement] = []
    for conjunct, verdict in zip(program.conjuncts, program.evaluate_conjuncts(values), strict=True):
        unknown = unknown_reads(conjunct.reads, names)
        shape = conjunct.comparison
        if unknown and shape is not None and shape.operator == "has":
            found.append(not shape.negated)
        else:
            found.append(unknown or verdict)
    return tuple(found)


def _combined(parts: tuple[Judgement, ...]) -> Judgement:
    """False beats what isn't known, since it is false whatever that is; what isn't known beats an error, since it may be false."""
    if False in parts:
        return False
    unknown = tuple(sorted({name for part in parts if isinstance(part, tuple) for name in part}))
    return unknown or next((part for part in parts if part is not True), True)


def chain_verdicts(entry: ResourceSlice, selectors: SelectorChain) -> tuple[Verdict, ...]:
    """Class and request selectors against every device of the slice, as the allocator combines them."""
    kept = _judgements(entry)
    found = kept.get(selectors)
    if found is None:
        found = _chain_verdicts(entry, selectors)
        _keep(kept, selectors, found)
    return found  # type: ignore[return-value]


def _chain_verdicts(entry: ResourceSlice, selectors: SelectorChain) -> tuple[Verdict, ...]:
    verdicts: list[Verdict] = [True] * len(entry.devices)
    for source, index, expression in selectors.all:
        if expression is None:
            continue
        outcome = selector_verdicts(entry, expression, selectors.environment)
        for position, verdict in enumerate(verdicts):
            if verdict is not True:
                continue
            result = outcome if isinstance(outcome, CompileError) else outcome[position]
            whose = "class" if source == "class" else "claim"
            if isinstance(result, bool):
                verdicts[position] = result
            elif isinstance(result, tuple):
                verdicts[position] = Undetermined(whose, index, result)
            else:
                verdicts[position] = SelectorFailure(whose, index, result)
    return tuple(verdicts)


def _keep(kept: dict[object, tuple[object, ...]], key: object, value: tuple[object, ...]) -> None:
    kept[key] = value
    make_room(kept, _KEPT_PER_SLICE)


def device_class_unsupported(device_class: DeviceClass) -> bool:
    """A class with a selector that isn't CEL: the allocator would crash on it, so nothing can be said."""
    return any(selector.expression is None for selector in device_class.selectors)
