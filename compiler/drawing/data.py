"""A picture as JSON, for other programs: its sheets with boxes and arrows, as `picture` describes them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final

from windtunnel.compiler.drawing.lettering import whole
from windtunnel.compiler.drawing.picture import Picture

SCHEMA: Final = "windtunnel.picture.v1"


def picture_data(picture: Picture) -> dict[str, Any]:
    """The picture as JSON values; what is empty is left out, what no file can hold is replaced."""
    data = _sparse(asdict(picture))
    assert isinstance(data, dict), "a picture is a record"
    return {"schema": SCHEMA, **data}


def json_document(picture: Picture) -> str:
    """The picture as the text of a `.json` file."""
    return json.dumps(picture_data(picture), ensure_ascii=False, indent=1) + "\n"


def _sparse(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sparse(item) for key, item in value.items() if item not in ("", None, (), False)}
    if isinstance(value, list | tuple):
        return [_sparse(item) for item in value]
    return whole(value) if isinstance(value, str) else value
