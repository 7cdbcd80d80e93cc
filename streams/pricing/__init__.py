"""What an upheld grievance is worth: pure functions of the pack, the record and what was paid before."""
