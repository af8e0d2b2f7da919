"""Buffers: Tensors that are written into, and views of them, which show what is written."""
