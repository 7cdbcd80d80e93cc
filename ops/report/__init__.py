"""The analysts' main questions on one page that can be printed and sent: nothing of it is loaded from elsewhere."""
