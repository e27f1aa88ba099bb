"""One batch of candidates, end to end: from a Problem to scores."""
