"""What is measured in a chain: numbers, local values, correlations, and entanglement."""
