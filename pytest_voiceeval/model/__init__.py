"""The nouns: what a scenario, a conversation and a verdict are made of. Pure values."""
