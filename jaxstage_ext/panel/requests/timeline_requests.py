"""The requests of the timeline tab."""

from __future__ import annotations

from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.requests import timeline_search_requests

METHODS: dict[str, given.Method] = {**timeline_search_requests.METHODS}
