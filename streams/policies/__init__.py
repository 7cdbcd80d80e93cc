"""Policy packs: one folder a domain and version, sealed by hash, and the code that reads them."""
