"""Methods that train other methods: thresholds, sums and vocabularies of their own for each split."""
