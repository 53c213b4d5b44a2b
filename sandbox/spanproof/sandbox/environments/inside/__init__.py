"""Programs that run inside the build sandbox; read as text, never imported by the host."""
