"""How a reply says that no model gave it. Adapters read either; neither is ever left out of a reply."""

HEADER = "x-refund-bench-simulated"
FIELD = "refund_bench_simulated"
"""At the top of every JSON body; both SDKs keep it in `model_extra` of the typed response."""
