"""One evaluation, and a run of many: calls held, scored, written down and folded into rates."""
