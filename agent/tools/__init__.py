"""What a language model may call: one file each."""
