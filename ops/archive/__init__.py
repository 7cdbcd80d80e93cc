"""The archive: the bytes of every event, a folder a day, kept when ClickHouse lets go of its texts."""
