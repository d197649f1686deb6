"""The public face: one file for each public function, and `Inspection`, which most of them return."""
