"""Methods of which a part was made elsewhere: predictions, or vectors of documents."""
