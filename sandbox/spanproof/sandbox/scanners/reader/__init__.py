"""What the scanners of Python and JavaScript share: values, what a reading keeps, and effects of calls."""
