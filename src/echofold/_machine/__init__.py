"""What the machine gives: devices, compiled programs, memory, processes, files."""
