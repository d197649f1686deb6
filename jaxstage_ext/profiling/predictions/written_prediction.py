"""What a prediction rests on as plain JSON, so that a trace of one that is opened again still says that nothing ran."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from jaxstage_ext.report.prediction import Estimator, Means, PredictedLoop, Prediction

_LONGEST, _MOST = 500, 10_000


def written(prediction: Prediction) -> dict[str, Any]:
    """The fields of a prediction; `read` takes them."""
    return {**asdict(prediction), "estimator": prediction.estimator.name, "means": prediction.means.name}


def read(saved: Any) -> Prediction | None:
    """The prediction of a `written`; None of anything else. What a damaged file says of its parts is unknown."""
    estimator = Estimator.__members__.get(_text(saved.get("estimator"))) if isinstance(saved, Mapping) else None
    if estimator is None:
        return None
    return Prediction(
        estimator,
        Means.__members__.get(_text(saved.get("means")), Means.UNKNOWN),
        _text(saved.get("target")) or "an unknown target",
        _number(saved.get("seconds")),
        min(_number(saved.get("matched")) or 0.0, 1.0),
        _number(saved.get("weighted")) or 0.0,
        _number(saved.get("exposed")),
        _whole(saved.get("peak")),
        _text(saved.get("network")),
        tuple(filter(None, map(_loop, _list(saved.get("loops"))))),
        tuple(map(_text, _list(saved.get("unknown")))),
    )


def _loop(saved: Any) -> PredictedLoop | None:
    if not isinstance(saved, Mapping) or (seconds := _number(saved.get("seconds"))) is None:
        return None
    start, end = (_number(saved.get(name)) or 0.0 for name in ("start", "end"))
    return PredictedLoop(_text(saved.get("name")), _whole(saved.get("count")), seconds, start, end)


def _list(value: Any) -> list[Any]:
    return value[:_MOST] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value[:_LONGEST] if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) and value >= 0 else None


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None
