"""A cell's method, trained and kept: texts to classes, decision values, probabilities, and the words that decide."""
