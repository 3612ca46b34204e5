"""Bytes to and from a shell on the host."""
