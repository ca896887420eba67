"""Workers: processes of this machine or of a cluster that compute points of a run, and put the results in the store."""
