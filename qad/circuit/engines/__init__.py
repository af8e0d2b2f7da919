"""Engines that run the gates of a circuit on states, and the rules of their derivatives."""
