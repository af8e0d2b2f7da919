"""Gates: their table, their structure, and the entries of their matrices from parameters."""
