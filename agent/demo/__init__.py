"""The demonstration: a recorded case laid out for real on this machine, behind an SSH server of its own."""
