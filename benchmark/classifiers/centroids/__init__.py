"""Centroids of classes of documents under the symmetric KL divergence: statistics of a class in, a distribution out."""
