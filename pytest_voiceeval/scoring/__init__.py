"""Scoring: from the evidence of a call to its signals and its verdict. Pure."""
