"""A host that can only be read: framing, worker pool, read commands, policy, snapshot cache."""
