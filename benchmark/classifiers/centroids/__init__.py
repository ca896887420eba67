"""Centroids of classes of documents under the symmetric KL divergence, computed from statistics of a class."""
