"""How near extracted facts come to those that people write."""
