"""What is said about jobs of engines."""

from __future__ import annotations

NO_JOB = "no processes; %processes start 2 starts two"
