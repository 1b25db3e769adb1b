"""Who answers: the ports, and the judges that fill them."""
