"""The stages of a call: what they are, running them, and what they leave."""
