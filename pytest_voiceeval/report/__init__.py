"""What a person and other programs read about voice scenarios after a run."""
