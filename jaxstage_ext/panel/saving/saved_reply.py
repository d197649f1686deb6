"""A reply as a saved report has it: under the request's name, without what others are not to see."""

from __future__ import annotations

import base64
import json
from typing import Any

from jaxstage_ext.panel.params import Params
from jaxstage_ext.report.text.public_paths import public_folders, public_path


def reply_key(method: str, params: Params) -> str:
    """How the front end names a request of a saved report: by method and parameters, without the call."""
    named = {name: value for name, value in sorted(params.items()) if name != "call"}
    return f"{method} {json.dumps(named, separators=(',', ':'), ensure_ascii=False)}"


def saved_reply(result: dict[str, Any], buffers: list[bytes], with_source: bool) -> dict[str, Any]:
    """An answer as plain JSON."""
    strings = result.get("strings")
    if not with_source and isinstance(strings, dict) and "code" in strings:
        result = result | {"strings": strings | {"code": [""] * len(strings["code"])}}
    return {"result": _public(result), "buffers": [base64.b64encode(buffer).decode() for buffer in buffers]}


def _public(value: Any, key: str = "") -> Any:
    """The same with paths as others may see them; scopes look like paths and stay."""
    if isinstance(value, str):
        return public_path(value) if key == "file" else public_folders(value) if "/" in value else value
    if isinstance(value, dict):
        return {name: _public(inner, name) for name, inner in value.items()}
    return [_public(inner) for inner in value] if isinstance(value, list | tuple) else value
