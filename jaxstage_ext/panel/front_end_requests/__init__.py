"""The requests of the JupyterLab extension: each file has `METHODS`, from a request's name to what answers it."""

from __future__ import annotations

from jaxstage_ext.panel.connection import FrontEndMethod
from jaxstage_ext.panel.front_end_requests import (
    comparison_requests,
    hello_requests,
    inspection_requests,
    magic_line_requests,
    open_requests,
)

METHODS: dict[str, FrontEndMethod] = {
    **hello_requests.METHODS,
    **inspection_requests.METHODS,
    **open_requests.METHODS,
    **comparison_requests.METHODS,
    **magic_line_requests.METHODS,
}
"""All that a page may ask of the kernel over its comm."""
