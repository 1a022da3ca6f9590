"""What a test case is: Scenario, its registry, prompts, packs and rehearsals."""
