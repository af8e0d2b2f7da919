"""What happens when arrays are written into: buffers, indices, views, and arrays of the caller that change."""
