"""Any interleaving of deliver, complete, commit, crash and reassign: nothing lost, nothing twice."""

import hypothesis.strategies as st
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from topologies.async_stage.offset_codec import Progress, decode, encode
from topologies.async_stage.offset_tracker import Arrival, OffsetTracker

SPAN = 64


class OneConsumerAfterAnother(RuleBasedStateMachine):
    """A log with gaps, a broker that keeps one commit, consumers that come and go.

    `written` is what a transaction made visible: the truth that no commit may contradict.
    """

    @initialize(
        gaps=st.lists(st.integers(0, 5), min_size=20, max_size=120), first=st.integers(0, 50)
    )
    def begin(self, gaps: list[int], first: int) -> None:
        self.log: list[int] = []
        at = first
        for gap in gaps:
            at += gap
            self.log.append(at)
            at += 1
        self.broker: tuple[int, str] | None = None
        self.written: list[int] = []
        self.called: list[int] = []
        self._assign()

    def _assign(self) -> None:
        committed = decode(*self.broker) if self.broker else None
        self.tracker = OffsetTracker(committed)
        start = committed.position if committed else 0
        self.to_come = [offset for offset in self.log if offset >= start]
        self.running: list[int] = []
        self.finished: list[int] = []

    @precondition(lambda self: self.to_come)
    @rule(count=st.integers(1, 20))
    def deliver(self, count: int) -> None:
        for _ in range(min(count, len(self.to_come))):
            offset = self.to_come[0]
            if not self.tracker.fits(offset, SPAN):
                return
            self.to_come.pop(0)
            arrival = self.tracker.admit(offset)
            if offset in self.written:
                assert arrival is Arrival.DONE
            else:
                assert arrival is Arrival.NEW
                self.running.append(offset)
                self.called.append(offset)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def complete(self, data: st.DataObject) -> None:
        some = data.draw(st.sets(st.sampled_from(self.running), min_size=1))
        self.running = [offset for offset in self.running if offset not in some]
        self.finished += sorted(some)

    @precondition(lambda self: self.finished)
    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        batch = data.draw(st.sets(st.sampled_from(self.finished), min_size=1))
        progress = self.tracker.progress(batch)
        self.broker = progress.position, encode(progress)
        self.tracker.finish(batch)
        self.written += sorted(batch)
        self.finished = [offset for offset in self.finished if offset not in batch]

    @precondition(lambda self: self.finished)
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        batch = data.draw(st.sets(st.sampled_from(self.finished), min_size=1))
        before = self.tracker.progress()
        self.tracker.progress(batch)
        assert self.tracker.progress() == before

    @rule()
    def crash(self) -> None:
        """Or a reassignment: whoever comes next knows only what was committed."""
        self._assign()

    @precondition(lambda self: self.tracker.unfinished)
    @rule(data=st.data())
    def redelivered(self, data: st.DataObject) -> None:
        offset = data.draw(st.sampled_from(self.tracker.unfinished))
        assert self.tracker.admit(offset) is Arrival.DUPLICATE

    @invariant()
    def nothing_is_written_twice(self) -> None:
        assert len(set(self.written)) == len(self.written)

    @invariant()
    def a_commit_names_exactly_what_is_written(self) -> None:
        if self.broker is None:
            return
        assert len(self.broker[1]) < 4_096
        progress = decode(*self.broker)
        for offset in self.log:
            assert progress.finished(offset) == (offset in self.written), offset

    @invariant()
    def the_span_is_bounded(self) -> None:
        assert self.tracker.span <= SPAN or not self.tracker.has_unfinished

    def teardown(self) -> None:
        """In the end everything is done, once, and the commit says no more than where it ends."""
        if not hasattr(self, "log"):
            return
        while self.to_come or self.running or self.finished:
            self.finished += self.running
            self.running = []
            if self.finished:
                batch = set(self.finished)
                progress = self.tracker.progress(batch)
                self.broker = progress.position, encode(progress)
                self.tracker.finish(batch)
                self.written += self.finished
                self.finished = []
            if self.to_come:
                self.deliver(20)
        assert sorted(self.written) == self.log
        assert set(self.called) == set(self.log)


TestOneConsumerAfterAnother = OneConsumerAfterAnother.TestCase
TestOneConsumerAfterAnother.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None
)


@given(
    position=st.integers(0, 2**60),
    delivered=st.sets(st.integers(0, 300), min_size=1),
    data=st.data(),
)
@settings(deadline=None)
def test_after_a_crash_exactly_the_unfinished_are_done_again(
    position: int, delivered: set[int], data: st.DataObject
) -> None:
    offsets = [position + each for each in sorted(delivered)]
    tracker = OffsetTracker(Progress(position))
    assert all(tracker.admit(offset) is Arrival.NEW for offset in offsets)
    done = data.draw(st.sets(st.sampled_from(offsets)))
    progress = tracker.progress(done)
    again = OffsetTracker(decode(progress.position, encode(progress)))
    redone = [
        offset
        for offset in offsets
        if offset >= progress.position and again.admit(offset) is Arrival.NEW
    ]
    assert redone == [offset for offset in offsets if offset not in done]


def test_transaction_markers_and_compaction_leave_gaps_that_hold_no_work() -> None:
    tracker = OffsetTracker(Progress(10))
    for offset in (12, 13, 40):
        assert tracker.admit(offset) is Arrival.NEW
    progress = tracker.progress({12, 40})
    assert progress.position == 13
    assert progress.finished_above() == list(range(14, 41))
    tracker.finish({12, 13, 40})
    assert tracker.progress() == Progress(41)


def test_a_reset_above_the_committed_offset_goes_on_from_there() -> None:
    tracker = OffsetTracker(Progress(5, b"\x02"))
    assert tracker.admit(1_000_000) is Arrival.NEW
    assert tracker.fits(1_000_001, 64)
    assert tracker.progress() == Progress(1_000_000)


def test_a_reset_below_the_committed_offset_is_found_out() -> None:
    tracker = OffsetTracker(Progress(500))
    assert tracker.admit(3) is Arrival.REWOUND


def test_nothing_committed_begins_at_the_first_message() -> None:
    tracker = OffsetTracker(None)
    assert tracker.admit(77) is Arrival.NEW
    assert tracker.progress().position == 77
    assert tracker.progress({77}).position == 78


def test_one_stuck_message_fills_the_span_and_no_more() -> None:
    tracker = OffsetTracker(Progress(0))
    offset = 0
    while tracker.fits(offset, 16_384):
        tracker.admit(offset)
        offset += 1
    assert offset == 16_384
    tracker.finish(range(1, offset))
    metadata = encode(tracker.progress())
    assert tracker.progress().position == 0
    assert len(metadata) < 4_096
    tracker.finish([0])
    assert tracker.fits(offset, 16_384)


def test_what_was_finished_before_a_restart_stays_in_the_commits_until_it_is_passed() -> None:
    tracker = OffsetTracker(Progress(100, b"\x0a"))  # 101 and 103 are done
    assert tracker.admit(100) is Arrival.NEW
    assert tracker.progress().finished_above() == [101, 103]
    assert tracker.progress({100}).position == 102
    assert tracker.progress({100}).finished_above() == [103]
    assert tracker.admit(101) is Arrival.DONE
    assert tracker.admit(102) is Arrival.NEW
    assert tracker.admit(103) is Arrival.DONE
    assert tracker.progress({100, 102}) == Progress(104)
