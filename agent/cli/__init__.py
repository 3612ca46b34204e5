"""One file per command: options, wiring, exit code."""
