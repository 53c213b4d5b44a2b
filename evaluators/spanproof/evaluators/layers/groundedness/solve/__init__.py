"""Programs over facts: which facts, and which steps over them, give what a claim states."""
