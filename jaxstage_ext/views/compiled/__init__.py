"""Still forms of the compile log and of the persistent cache."""
