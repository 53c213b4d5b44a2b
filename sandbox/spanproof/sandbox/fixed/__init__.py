"""What a run finds fixed around it, from the supervisor's side: the clock, chance, and recorded calls."""
