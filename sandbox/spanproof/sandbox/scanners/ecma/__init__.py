"""How the JavaScript scanner reads a script: values, folding, sinks, and the walk over the tree."""
