"""The predicted timeline of a program beside its measured one, and the time of a call that it gives."""
