"""The versions of what JAXStage writes as JSON."""

REPORT_VERSION = 4
"""Of saved reports, which offline pages hold too.

Since 3 the text of documents is compressed; since 4 files name their cells and have a checksum.
"""
TABLE_VERSION = 2
