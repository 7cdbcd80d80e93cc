"""What turns an environment to the stub: address and key of every provider that the catalogue can move."""

from streams.llm.catalogue import load

KEY = "simulated"


def pointing_at(url: str) -> dict[str, str]:
    """Settings for whoever is to talk to the stub at `url`. A real key in the environment is replaced, not sent."""
    found: dict[str, str] = {}
    for provider in load({}).providers.values():
        if provider.base_url_setting:
            below = "/v1" if provider.dialect == "openai" else ""
            found[provider.base_url_setting] = url + below
            found[provider.key] = KEY
    return found
