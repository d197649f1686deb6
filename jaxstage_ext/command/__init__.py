"""The command line: what a notebook shows, as text or JSON, with an exit status for scripts."""
