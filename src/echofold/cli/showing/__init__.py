"""What a command says, and the files it writes."""
