"""The requests of the timeline tab."""

from __future__ import annotations

from jaxstage_ext.panel import params as given

METHODS: dict[str, given.Method] = {}
