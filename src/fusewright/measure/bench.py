"""What one worker measures with: its device, the lease of it, and the line to the supervisor."""

import json
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fusewright.measure.compiling import (
    SHORT_BENCHMARK,
    gate_benchmarks,
    load_under_lease,
    set_up_compiler,
)
from fusewright.measure.device import Device
from fusewright.measure.lease import Lease, lease_file
from fusewright.measure.plan import Plan
from fusewright.measure.stopwatch import Stopwatch

Message = dict[str, Any]


@dataclass
class Bench:
    """What one worker measures with."""

    plan: Plan
    """How the present candidate is measured."""
    device: Device
    channel: socket.socket
    scratch: Path
    """Folder of this worker alone."""
    phase: str = "build"
    watch: Stopwatch = field(default_factory=Stopwatch)
    lease: Lease = field(init=False)
    _benchmarks: dict[str, int] = field(default_factory=dict)
    _pid: int = field(default_factory=os.getpid)

    def __post_init__(self) -> None:
        file, settle = lease_file(self.plan.leases, self.device.identity), self.device.synchronize
        self.lease = Lease(file, self.report, settle, self.watch)
        set_up_compiler()
        gate_benchmarks(self.lease, self.watch, self._benchmarks)
        load_under_lease(self.lease)

    def follow(self, plan: Plan) -> None:
        """Measure as *plan* says from here on."""
        self.plan = plan
        self.device.allow(plan.device_share)
        self._benchmarks.clear()
        self._benchmarks.update({} if plan.stock_benchmarks else SHORT_BENCHMARK)

    def report(self, phase: str) -> None:
        """Tell the supervisor which deadline counts from now on."""
        self.phase = phase
        self.send({"phase": phase})

    def send(self, message: Message) -> None:
        """Send one line to the supervisor."""
        # A candidate that forks leaves a second process in the middle of this code.
        if os.getpid() != self._pid:
            os._exit(1)
        self.channel.sendall(json.dumps(message).encode() + b"\n")
