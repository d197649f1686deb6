"""The names of the metadata events that JAXStage adds to a Chrome trace; other tools pass over them."""

RECORDING = "jaxstage_recording"
"""What the recording is: its title, its clock, what is lost."""
LANE = "jaxstage_lane"
"""What lane a thread is."""
