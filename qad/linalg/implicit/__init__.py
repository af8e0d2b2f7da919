"""Solutions found by iteration and differentiated by the implicit function theorem."""
