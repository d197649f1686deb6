"""The lines of magics: their options, arguments, help and completion."""
