"""Components of one's own: found in files, checked, and remembered by finished runs."""
