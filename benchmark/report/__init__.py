"""Tables, figures, files and pages made from the summary of a run."""
