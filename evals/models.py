"""What isn't measured of models: their size, and what their tokens cost. `evals/models.yaml`, beside the arms; as shipped it is empty,
because prices change and are the reader's to state.

    claude-something-small:        # as it stands after KIND: on the command line
      size: small                  # small or large; without it: unknown
      input: 1.0                   # price of a million tokens that it reads, in whatever money all prices are in
      output: 5.0                  # and of a million that it writes

Tokens read from a cache are counted as any others: what is worked out here is at most too high. What an agent itself says that it cost
goes before the table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from fault_injection.library.strict import Part

from .records import Record, Size

TABLE = Path(__file__).parent / "models.yaml"
MILLION = 1_000_000


class BadModels(Exception):
    """The table of models isn't as declared. Says the file, the place in it and what would be right."""


class Facts(Part):
    """Of one model."""

    size: Literal["small", "large"] | None = None
    input: float | None = Field(default=None, ge=0)
    output: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _both(self) -> Facts:
        if (self.input is None) is not (self.output is None):
            raise ValueError("a price has both input and output, per million tokens")
        return self


class _Table(Part):
    models: dict[str, Facts]


Models = Mapping[str, Facts]
NOTHING = Facts()


def load(path: Path = TABLE) -> Models:
    """The table in a file. Raises BadModels."""
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadModels(f"{path}: there is no such file") from None
    except (yaml.YAMLError, ValueError) as error:
        raise BadModels(f"{path}: {error}") from None
    try:
        return _Table.model_validate_json(json.dumps({"models": content or {}}, default=str)).models
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, entry['loc'][1:])) or 'file'}: {entry['msg']}" for entry in error.errors())
        raise BadModels(f"{path}: {told}") from None


def size_of(record: Record, models: Models) -> Size:
    """As it was said when it was run, or as the table has it."""
    return record.size if record.size != "unknown" else models.get(record.model, NOTHING).size or "unknown"


def cost_of(record: Record, models: Models) -> float | None:
    """What an attempt cost: as its agent said, or by the table; None where neither the one nor a price and the tokens are known."""
    if record.cost is not None:
        return record.cost
    price = models.get(record.model, NOTHING)
    if price.input is None or price.output is None or record.tokens_in is None or record.tokens_out is None:
        return None
    return (record.tokens_in * price.input + record.tokens_out * price.output) / MILLION


def priced(records: Iterable[Record], models: Models) -> list[Record]:
    """The records with size and cost as far as they are known."""
    return [record.model_copy(update={"size": size_of(record, models), "cost": cost_of(record, models)}) for record in records]


def words(records: Iterable[Record], models: Models) -> list[str]:
    """What a report says of prices: which it used, and of which models none is known. `records`: as the agents told them, without prices
    of the table. Baselines have no model."""
    said: list[str] = []
    for model in sorted({record.model for record in records if record.arm != "none" and record.model}):
        own = [record for record in records if record.model == model]
        price = models.get(model, NOTHING)
        told = sum(record.cost is not None for record in own)
        if told:
            said.append(f"{model}: as the agent says{'' if told == len(own) else f' (of {told} of {len(own)} attempts)'}.")
        if told < len(own) and price.input is not None:
            said.append(f"{model}: {price.input:g} per million tokens read and {price.output:g} per million written.")
        elif not told:
            said.append(f"{model}: no price known, so no cost; evals/models.yaml takes one.")
    return said
