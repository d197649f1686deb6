"""The devices of a program: what they are, whether it fits, what bounds it."""
