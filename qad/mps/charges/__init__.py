"""What only chains of conserved charge need: their quantities, sectors, operators and random states."""
