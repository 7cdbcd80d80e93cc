"""One at a time per key, whoever is dropped in between."""

from tests.unit.async_stage.helpers import entry, partition
from topologies.async_stage.key_order import KeyOrder


def test_followers_come_one_by_one() -> None:
    order = KeyOrder()
    work = [entry(each, order=b"k") for each in range(3)]
    assert [order.enter(each) for each in work] == [True, False, False]
    assert order.blocked == 2
    assert order.leave(work[0]) is work[1]
    assert order.leave(work[1]) is work[2]
    assert order.leave(work[2]) is None
    assert order.blocked == 0
    assert order.enter(work[0])


def test_other_keys_and_none_do_not_wait() -> None:
    order = KeyOrder()
    assert order.enter(entry(0, order=b"a"))
    assert order.enter(entry(1, order=b"b"))
    assert order.enter(entry(2))
    assert order.enter(entry(3))
    assert order.leave(entry(2)) is None


def test_the_waiting_of_a_lost_partition_are_forgotten() -> None:
    order = KeyOrder()
    lost, kept = partition(0), partition(1)
    head, gone, stays = entry(0, lost, b"k"), entry(1, lost, b"k"), entry(2, kept, b"k")
    for each in (head, gone, stays):
        order.enter(each)
    order.forget({lost})
    assert order.blocked == 1
    assert order.leave(head) is stays
    assert order.leave(stays) is None


def test_leaving_twice_hands_out_nothing_twice() -> None:
    order = KeyOrder()
    first, second, third = (entry(each, order=b"k") for each in range(3))
    for each in (first, second, third):
        order.enter(each)
    assert order.leave(first) is second
    assert order.leave(first) is None
