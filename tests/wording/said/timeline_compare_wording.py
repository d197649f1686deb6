"""A timeline that stands alone."""

from jaxstage_ext.panel.requests.forms import timeline_compare_wording as wording

SAID = {"one step": wording.one_step(), "no profile": wording.no_profile()}
