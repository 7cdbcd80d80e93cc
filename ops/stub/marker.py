"""How a reply says that no model gave it: by a header, and in every JSON body. Adapters read the header."""

from streams.llm.wire import SIMULATED_HEADER

HEADER = SIMULATED_HEADER
FIELD = "refund_bench_simulated"
"""At the top of a body; both SDKs keep it in `model_extra` of the typed response."""
