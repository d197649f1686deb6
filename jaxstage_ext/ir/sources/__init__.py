"""Call stacks, source files and cells: where the lines of documents come from."""
