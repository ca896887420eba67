"""Kernels derived from a model that is first fitted to the training documents."""
