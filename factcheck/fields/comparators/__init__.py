"""What compares two values, and what prepares them."""
