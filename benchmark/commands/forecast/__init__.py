"""Forecasts of seconds and memory: pilot runs on samples of the documents, and how they grow to a whole run."""
