"""What an answer says, as words, quantities, units and dates."""
