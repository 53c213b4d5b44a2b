"""What an answer claims: values and states, each with the words and records about it."""
