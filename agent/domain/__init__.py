"""The nouns of an investigation: frozen dataclasses and protocols, standard library only, no I/O."""
