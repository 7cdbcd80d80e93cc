"""One module per topic: the pure function from an event to the rows it leaves in ClickHouse."""
