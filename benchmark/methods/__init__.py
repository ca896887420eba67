"""Methods: train a weighting, kernel and classifier on the splits of a problem and predict the test documents."""
