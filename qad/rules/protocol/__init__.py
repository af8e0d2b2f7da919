"""What NumPy's and the array-API's protocols ask of a Tensor."""
