"""One lake, one owner: who holds a lake's folder, and how every other process asks it over its socket."""
