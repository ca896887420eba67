"""Methods that wrap another: with thresholds, with a vocabulary of each split, with a plug-in's part."""
