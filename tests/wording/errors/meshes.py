"""Meshes and PartitionSpecs that do not fit the call."""

from error_text import error_of

from tests.core.layout.test_meshes import WRONG, inspected

SAID = {str(given): error_of(lambda given=given: inspected(**given)) for given, _ in WRONG}
