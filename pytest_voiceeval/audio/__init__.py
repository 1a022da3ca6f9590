"""PCM arithmetic: arrays in, arrays out."""
