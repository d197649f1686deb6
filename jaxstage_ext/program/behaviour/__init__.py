"""What a call does beside computing its results: effects and callbacks, and its way to the device."""
