"""Documents' bytes become sparse counts of terms."""
