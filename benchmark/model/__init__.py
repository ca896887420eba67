"""Saved models: the trained method of a cell predicts classes, decision values and probabilities of texts."""
