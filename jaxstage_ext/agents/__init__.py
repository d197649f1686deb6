"""Tools for language models by the Model Context Protocol: what a kernel inspected, asked through Jupyter's server.

`jupyter_server_mcp` finds them by the entry point `jupyter_server_mcp.tools`. All are read-only, but `jaxstage_try`
compiles a change of a finding, and runs nothing of the user's.
"""
