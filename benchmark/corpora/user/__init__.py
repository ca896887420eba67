"""A user's own documents: files, folders of counts, and their cards."""
