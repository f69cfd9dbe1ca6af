"""Who somebody is: tokens verified, the lake's own key, how much one tenant may ask."""
