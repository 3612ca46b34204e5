"""The engine against recorded launches of a real server."""
