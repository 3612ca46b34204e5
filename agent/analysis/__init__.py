"""Source text to definitions, guards, callers and writers; pure."""
