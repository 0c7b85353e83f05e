"""What screens and commands read: frozen views made from rows and schedules; nothing here writes."""
