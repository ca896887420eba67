"""Text classification with information-geometric kernels and generative classifiers, benchmarked reproducibly."""

__version__ = "0.1.0"
