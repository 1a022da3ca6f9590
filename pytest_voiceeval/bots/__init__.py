"""Embedded bots: a pipecat pipeline, its services, the rehearsal in place of a model, launchers."""
