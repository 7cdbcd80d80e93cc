-- How long each table keeps what.

-- up

-- down
