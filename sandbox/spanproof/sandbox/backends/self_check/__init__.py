"""What every backend promises, as checks that run against any backend; `promises` has all of them."""
