"""One relational fact base: what sources hold, as records of typed facts."""
