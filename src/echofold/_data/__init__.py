"""What the user gave becomes a Problem."""
