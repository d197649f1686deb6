"""Serialised protobuf messages, read into columns."""
