"""A server that speaks the Anthropic Messages and the OpenAI chat API, for demos, tests and load runs.

The real SDKs talk to it and cannot tell, save by the marker that every reply carries (`marker`). It
answers from `offline-rules` or a script, and misbehaves on request (`faults`). `wire` holds what the
two APIs have in common, `anthropic_api` and `openai_api` what each makes of it, `server` the order in
which a call meets key, limits, faults and answer.
"""
