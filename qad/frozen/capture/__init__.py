"""What a function reads beyond its arguments, and whether that has changed."""
