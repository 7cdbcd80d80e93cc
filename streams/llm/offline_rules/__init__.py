"""`offline-rules`: a deterministic keyword-and-field reader that stands in for the models.

It knows ordinary complaint English with some Hinglish and Nigerian Pidgin (`vocabulary.py`); what a
domain's words mean and how its record decides is data of the pack (`offline.toml`). Every reply says
`simulated`.
"""
