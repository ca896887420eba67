"""Corpora: found or downloaded, verified, and read into documents; `registry` is the way in."""
