"""What a test may say about cost: operations and memory are counted, clocks are never asked, for machines are busy."""

import sys
import tracemalloc


def calls(work) -> int:
    """How many functions `work` calls, those written in C included; what is built at first use is not counted."""
    made = 0

    def count(frame, event, argument):
        nonlocal made
        made += event in ("call", "c_call")

    work()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return made


def steps(work) -> int:
    """How many instructions of Python `work` runs, those of loops included."""
    made = 0

    def count(frame, event, argument):
        nonlocal made
        frame.f_trace_opcodes = True
        made += event == "opcode"
        return count

    work()
    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return made


def peak(work) -> int:
    """The most bytes that Python and NumPy hold at a time while `work` runs, beyond what they hold before."""
    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
