"""A signal while compiled code runs, or makes what it returns, ends in its handler's exception."""

from __future__ import annotations

import subprocess
import sys

import pytest

SIGNALS = """
import signal, time
from hierdata.engines.specialize.kernel_patterns import make_room, make_table

class Stop(BaseException):
    pass

def stop(number, frame):
    raise Stop

assert type(make_room(make_table(3), 1)).__name__ == "PatternTable"
signal.signal(signal.SIGALRM, stop)
raised, end = 0, time.monotonic() + 0.8
while time.monotonic() < end:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0002)
        while True:
            make_room(make_table(3), 1)
    except Stop:
        raised += 1
print(raised)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers that send signals")
def test_a_signal_while_a_named_tuple_of_arrays_is_returned() -> None:
    ran = subprocess.run([sys.executable, "-c", SIGNALS], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 100
