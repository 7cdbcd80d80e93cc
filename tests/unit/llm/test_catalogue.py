"""Providers, models and prices: checked before anything is asked."""

from pathlib import Path

import pytest

from schemas.docket import Usage
from streams.llm.catalogue import SETTING, load
from streams.llm.port import Misconfigured
from streams.llm.registry import open_model
from streams.llm.wire import Access

PRICED = (
    "[models.x]\nprovider = 'anthropic'\ninput = {input}\noutput=1\ncache_write=1\ncache_read=1"
)
KEY = {"ANTHROPIC_API_KEY": "sk-test", "REFUND_BENCH_PROVIDER": "anthropic"}
OWN = """
[providers.local]
dialect = "openai"
base_url = "http://127.0.0.1:8000/v1"
default_model = "qwen"
answer_format = "json_object"

[models.qwen]
provider = "local"
input = 0
output = 0
cache_write = 0
cache_read = 0
sampling = true
"""


def test_every_provider_of_the_catalogue_has_a_priced_default_model() -> None:
    catalogue = load({})
    for provider in catalogue.providers:
        name, facts = catalogue.model(provider, "default")
        assert facts.provider == provider
        assert 0 < facts.cache_read < facts.input <= facts.cache_write < facts.output, name


def test_a_cost_is_tokens_times_price_with_cached_ones_at_theirs() -> None:
    _, facts = load({}).model("anthropic", "claude-sonnet-5-5")
    usage = Usage(
        input_tokens=1_000, cache_read_tokens=600, cache_write_tokens=100, output_tokens=50
    )
    assert facts.cost_micros(usage) == 300 * 2 + 60 + 250 + 500


def test_an_own_server_needs_an_entry_and_is_simulated_until_its_host_is_listed(
    tmp_path: Path,
) -> None:
    file = tmp_path / "models.toml"
    file.write_text(OWN)
    model = open_model("local", {SETTING: str(file)}, sampling={"temperature": 0.7})
    assert (model.provider, model.model, model.simulated) == ("local", "qwen", True)
    file.write_text(OWN.replace("default_model", 'real_hosts = ["127.0.0.1"]\ndefault_model'))
    assert not open_model("local", {SETTING: str(file)}).simulated


def test_only_the_providers_own_host_is_real() -> None:
    assert not open_model("anthropic", KEY).simulated
    assert open_model("anthropic", {**KEY, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}).simulated
    elsewhere = {**KEY, "ANTHROPIC_BASE_URL": "https://api.anthropic.com.evil.example"}
    assert open_model("anthropic", elsewhere).simulated


@pytest.mark.parametrize(
    ("environment", "model", "named"),
    [
        ({"ANTHROPIC_API_KEY": ""}, "default", "ANTHROPIC_API_KEY is not set"),
        ({"ANTHROPIC_API_KEY": "  "}, "default", "ANTHROPIC_API_KEY is not set"),
        ({"ANTHROPIC_API_KEY": "sk\x07"}, "default", "ANTHROPIC_API_KEY holds"),
        ({"ANTHROPIC_API_KEY": "sk test"}, "default", "ANTHROPIC_API_KEY holds"),
        ({}, "claude-nine", "claude-nine.*REFUND_BENCH_MODELS"),
        ({}, "gpt-6.1-sol", "gpt-6.1-sol"),
        ({"REFUND_BENCH_MODEL": "claude-nine"}, "default", "claude-nine"),
        ({"ANTHROPIC_BASE_URL": "ftp://x"}, "default", "ANTHROPIC_BASE_URL"),
        ({"REFUND_BENCH_LLM_TIMEOUT_S": "soon"}, "default", "REFUND_BENCH_LLM_TIMEOUT_S"),
        ({"REFUND_BENCH_LLM_CACHE": "maybe"}, "default", "REFUND_BENCH_LLM_CACHE"),
        ({SETTING: "/nowhere.toml"}, "default", "REFUND_BENCH_MODELS: /nowhere.toml"),
    ],
)
def test_a_wrong_setting_is_named_before_anything_starts(
    environment: dict[str, str], model: str, named: str
) -> None:
    with pytest.raises(Misconfigured, match=named):
        open_model("anthropic", {**KEY, **environment}, model)


def test_sampling_for_a_model_that_refuses_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="temperature"):
        open_model("anthropic", KEY, sampling={"temperature": 0.0})


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "[models.x]\nprovider = 'anthropic'\ninput = -1\noutput=1\ncache_write=1\ncache_read=1",
            "models.x.input",
        ),
        ("[models.x]\nprovider = 'anthropic'\ninput = 1", "models.x.output"),
        ("[models.x]\nprovider='nobody'\ninput=1\noutput=1\ncache_write=1\ncache_read=1", "nobody"),
        ("[modles.x]\n", "modles"),
        *(
            (PRICED.format(input=price), "models.x.input")
            for price in ("nan", "inf", "-inf", "true", "'2'", "10001")
        ),
        (OWN.replace("providers.local", "providers.default"), "providers.default"),
        (OWN.replace("providers.local", "providers.offline-rules"), "providers.offline-rules"),
        ("not toml", "cannot be read"),
    ],
)
def test_a_catalogue_of_ones_own_is_checked(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "models.toml"
    file.write_text(text)
    with pytest.raises(Misconfigured, match=named):
        load({SETTING: str(file)})


@pytest.mark.parametrize(
    "address",
    [
        "sk-secret", "http://[::1", "http://user:sk-secret@127.0.0.1/v1", "http://127.0.0.1/v1?key=sk-secret",
        "http://127.0.0.1:99999/v1", "http://exa mple.com", "http:///v1",
    ],
)  # fmt: skip
def test_an_address_that_is_none_or_holds_a_secret_is_refused_and_not_repeated(
    address: str,
) -> None:
    with pytest.raises(Misconfigured, match="ANTHROPIC_BASE_URL: set an http") as caught:
        open_model("anthropic", {**KEY, "ANTHROPIC_BASE_URL": address})
    assert "secret" not in str(caught.value)


def test_a_key_in_the_catalogue_itself_is_refused_and_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    file.write_text(OWN.replace("default_model", 'key = "sk-secret"\ndefault_model'))
    with pytest.raises(Misconfigured, match=r"providers\.local\.key") as caught:
        open_model("local", {SETTING: str(file)})
    assert "secret" not in str(caught.value)


def test_the_key_is_in_no_error_and_no_repr() -> None:
    with pytest.raises(Misconfigured) as caught:
        open_model("anthropic", {**KEY, "ANTHROPIC_API_KEY": "sk-very secret"})
    assert "secret" not in str(caught.value)
    access = Access("anthropic", "m", "http://x", "sk-secret", "ANTHROPIC_API_KEY", 1.0, True)
    assert "secret" not in repr(access)
