"""Reports as pages of sections, tables and lists: one model, a rendering for each format."""
