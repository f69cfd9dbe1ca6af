"""What the formats of office files share: containers, objects, styles, formulas."""
