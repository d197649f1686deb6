"""Names of the dimensions of a program, for its author: by einsum letters, paths of parameters, axes of arrays."""
