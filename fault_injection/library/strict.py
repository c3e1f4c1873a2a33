"""The base of what is read from a fault's YAML files: an unknown key is an error, nothing is converted silently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError


class Part(BaseModel):
    """A part of a YAML file, exactly as declared."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Model = TypeVar("Model", bound=Part)


class BadFile(Exception):
    """A YAML file of a fault isn't as declared. Says the file, the place in it and what would be right."""


def read(path: Path, model: type[Model]) -> Model:
    """A YAML file as a model. Raises BadFile."""
    try:
        content: Any = yaml.safe_load(path.read_text())
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file; every fault has fault.yaml, scene.py and golden.yaml") from None
    except yaml.YAMLError as error:
        raise BadFile(f"{path}: {error}") from None
    try:
        return model.model_validate_json(json.dumps(content))  # as JSON an array is a tuple, and still nothing is converted
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, entry['loc'])) or 'file'}: {entry['msg']}" for entry in error.errors())
        raise BadFile(f"{path}: {told}") from None
