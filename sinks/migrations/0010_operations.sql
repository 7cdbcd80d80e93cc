-- What was done to the installation.

-- up

-- down
