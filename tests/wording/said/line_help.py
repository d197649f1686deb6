"""The `?` help of line magics."""

from wordings import constants

from jaxstage_ext.notebook.lines import line_help

SAID = constants(line_help)
