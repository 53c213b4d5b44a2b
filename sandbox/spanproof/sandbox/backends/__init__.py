"""The backends: the jail, containers and the machines of services."""
