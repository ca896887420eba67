"""Points that other processes solve, of this machine or of a cluster: what they give comes back by the store."""
