"""The command line's commands, one group a file. Heavy imports happen inside the functions."""
