"""The versions of what JAXStage writes as JSON."""

REPORT_VERSION = 3
"""Of saved reports, which offline pages hold too. Since 3 the text of documents is compressed."""
TABLE_VERSION = 2
