"""`--args`, and annotations that give no shape."""

from error_text import error_of, settled

from jaxstage_ext.notebook.lines.annotations import shape_from
from jaxstage_ext.notebook.lines.arguments import Dims
from tests.notebook.test_arguments import ANNOTATIONS, MISTAKES, read

SAID = {
    **{text: error_of(lambda text=text: read(text)) for text, *_ in MISTAKES},
    **{settled(str(given)): error_of(lambda given=given: shape_from(given, Dims())) for given, _ in ANNOTATIONS},
}
