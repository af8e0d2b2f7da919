"""Plans: a network ordered, its axes chosen, and each pair lowered to products of matrices."""
