"""Calls that several processes have staged: what each tells, who agrees with whom, and why not."""
