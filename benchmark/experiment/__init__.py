"""From a configuration to a finished run: what to compute, what is known already, and what came out."""
