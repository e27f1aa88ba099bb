"""Estimators as files, and back; nothing in a file is trusted."""
