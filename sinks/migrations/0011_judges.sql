-- What judges saw, and what caching saved.

-- up

-- down
