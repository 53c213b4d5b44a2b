"""What a run finds fixed around it, from the slot's side: the clock, chance, and recorded calls."""
