"""ESNSearchCV: which candidates, who computes them, who wins, what is left at the end."""
