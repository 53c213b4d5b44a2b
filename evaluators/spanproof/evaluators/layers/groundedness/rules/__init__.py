"""The rules that hold a claim of the answer against the facts, one kind of claim each."""
