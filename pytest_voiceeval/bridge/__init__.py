"""The bridge carries a call between two bots and collects its evidence."""
