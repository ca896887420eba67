"""Points to Gram matrices by way of a model that is fitted to the training documents first."""
