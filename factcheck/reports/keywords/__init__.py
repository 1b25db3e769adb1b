"""What the reports on keywords say: cards, behaviours, their comparison, and the linter."""
