"""The OpenAI-compatible client, and a scripted one for tests."""
