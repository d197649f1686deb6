"""The search of a program's layouts: kept with the program, asked by its panel."""
