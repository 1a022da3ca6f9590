"""The world of a scenario: where its data lie, their canonical hash, their diff, and what changes them."""
