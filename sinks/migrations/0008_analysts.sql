-- Views, grants and tables of the analysts' questions.

-- up

-- down
