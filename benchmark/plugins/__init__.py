"""Components of one's own: found in files and installed packages, checked, and remembered by finished runs."""
