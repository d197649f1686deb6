"""Requests of a panel that are refused."""

import fakes
from error_text import settled

from jaxstage_ext.panel.requests import dispatch
from tests.panel.test_dispatch import BAD_REQUESTS

SAID = {
    str(given): settled(dispatch.reply([fakes.program()], given)[0]["error"]["message"]) for given, _ in BAD_REQUESTS
}
