-- What reconciliation and the kill switch need.

-- up

-- down
