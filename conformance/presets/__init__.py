"""Profiles of hosts that people run: a preset is a profile, and nothing more."""
