"""From a file of any kind to one series."""
