"""What an erasure is: what it means to find, what it has to leave and why, and the certificate that says so. Pure."""
