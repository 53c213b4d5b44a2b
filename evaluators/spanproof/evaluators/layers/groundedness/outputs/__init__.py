"""What execution returned, in any format, as facts."""
