"""From an improved program to a list of instructions: where its values are stored, and what fills them."""
