"""The learned choice: how probable it is that a claim is right, given what it was bound to."""
