"""Every message that cannot be handled has a record that fits and says where it came from."""

from topologies.async_stage.dead_letters import DeadLetterOffice
from topologies.async_stage.message import Message, Output

MESSAGE = Message("input", 3, 42, b"key", b"\xff\xfe poison")


def test_the_default_keeps_the_bytes_the_place_and_the_error() -> None:
    output = DeadLetterOffice(None, "dead", 1_000).write(MESSAGE, ValueError("no"))
    assert (output.topic, output.key, output.value) == ("dead", b"key", MESSAGE.value)
    assert output.headers["origin"] == b"input/3/42"
    assert output.headers["error.type"] == b"ValueError"
    assert output.headers["error"] == b"no"


def test_the_application_may_wrap_it() -> None:
    def wrap(message: Message, error: BaseException) -> Output:
        return Output("mine", b"k", b"sealed")

    assert DeadLetterOffice(wrap, "dead", 1_000).write(MESSAGE, ValueError()).topic == "mine"


def test_a_wrapping_that_fails_is_replaced() -> None:
    def wrap(message: Message, error: BaseException) -> Output:
        raise RuntimeError("no key to seal with")

    assert DeadLetterOffice(wrap, "dead", 1_000).write(MESSAGE, ValueError()).topic == "dead"


def test_a_value_too_large_to_carry_is_cut_and_its_place_still_names_it() -> None:
    large = Message("input", 3, 42, b"key", b"x" * 3_000_000)
    output = DeadLetterOffice(None, "dead", 1_000_000).write(large, ValueError())
    assert output.size < 1_000_000
    assert output.headers["origin"] == b"input/3/42"


def test_a_wrapping_that_is_always_too_large_is_replaced() -> None:
    def wrap(message: Message, error: BaseException) -> Output:
        return Output("mine", b"k", b"x" * 2_000_000)

    assert DeadLetterOffice(wrap, "dead", 1_000_000).write(MESSAGE, ValueError()).topic == "dead"
