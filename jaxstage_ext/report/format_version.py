"""The version of everything that JAXStage writes as JSON: saved reports, offline pages and tables."""

SCHEMA_VERSION = 2
