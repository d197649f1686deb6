"""Compile options that are wrong, or of another backend."""

from error_text import error_of

from jaxstage_ext.core.options import flag_values
from tests.core.options.test_flag_values import OTHER_BACKENDS, WRONG_TEXTS, WRONG_VALUES

SAID = {
    **{text: error_of(lambda text=text: flag_values.build([text])) for text, _ in WRONG_TEXTS},
    **{str(given): error_of(lambda given=given: flag_values.check(given)) for given, _ in WRONG_VALUES},
    **{f"{name} for {platform}": flag_values.notes({name: 1}, platform) for name, platform, _ in OTHER_BACKENDS},
}
