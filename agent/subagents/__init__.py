"""One file per kind of investigation."""
