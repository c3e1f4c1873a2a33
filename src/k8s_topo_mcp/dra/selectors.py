"""Class and request selectors against the devices of a slice, judged once per slice and kept.

Rule: isSelectable and selectorsMatch in structured/internal/*/allocator_*.go. The class's selectors run first, then the request's; the
first that is false ends it, an error is fatal once the search reaches the device.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..cel import CompileError, DeviceValues, Environment, EvaluationError, compile_selector
from ..objects import Device, DeviceClass, ResourceSlice, Selector
from ..view import derived
from .outcome import SelectorFailure

Verdict = bool | SelectorFailure

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


def selector_verdicts(entry: ResourceSlice, expression: str, environment: Environment) -> tuple[bool | EvaluationError, ...] | CompileError:
    """One selector against every device of the slice."""
    program = compile_selector(expression, environment)
    if isinstance(program, CompileError):
        return program
    kept = _judgements(entry)
    found = kept.get((expression, environment))
    if found is None:
        found = tuple(program.evaluate(values) for values in slice_values(entry))
        _keep(kept, (expression, environment), found)
    return found  # type: ignore[return-value]


def conjunct_verdicts(
    entry: ResourceSlice, expression: str, environment: Environment
) -> tuple[tuple[bool | EvaluationError, ...], ...] | CompileError:
    """Per device the verdict of every `&&` operand of the selector."""
    program = compile_selector(expression, environment)
    if isinstance(program, CompileError):
        return program
    return tuple(program.evaluate_conjuncts(values) for values in slice_values(entry))


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
            verdicts[position] = (
                result if isinstance(result, bool) else SelectorFailure("class" if source == "class" else "claim", index, result)
            )
    return tuple(verdicts)


def _keep(kept: dict[object, tuple[object, ...]], key: object, value: tuple[object, ...]) -> None:
    if len(kept) >= _KEPT_PER_SLICE:
        kept.pop(next(iter(kept)))
    kept[key] = value


def device_class_unsupported(device_class: DeviceClass) -> bool:
    """A class with a selector that isn't CEL: the allocator would crash on it, so nothing can be said."""
    return any(selector.expression is None for selector in device_class.selectors)
