"""What all tests share: anyio on asyncio, hypothesis without deadlines, golden files, and an end that names what was left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.golden import Golden

# A deadline measures the machine, not the code.
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("project")

# No test reads the cluster that the person who runs it happens to have.
os.environ["KUBECONFIG"] = os.devnull
for _name in ("KUBERNETES_SERVICE_HOST", "K8S_TOPO_SNAPSHOT"):
    os.environ.pop(_name, None)

REQUIRED = "REQUIRE_ORACLES"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files instead of comparing with them")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares text with a file in the `golden` folder beside the test."""
    return Golden(Path(request.path).parent / "golden", update=bool(request.config.getoption("--update-golden")))


def _left_out(reporter: object, what: str = "oracle") -> dict[str, int]:
    """Reasons of skipped tests that needed an oracle (or a browser), with how many they skipped."""
    reasons: dict[str, int] = {}
    for report in getattr(reporter, "stats", {}).get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if what in report.keywords or what in reason.lower():
            reasons[reason] = reasons.get(reason, 0) + 1
    return reasons


def pytest_terminal_summary(terminalreporter: object, exitstatus: int, config: pytest.Config) -> None:
    write = terminalreporter.write_line  # type: ignore[attr-defined]
    for what in ("oracle", "browser"):
        reasons = _left_out(terminalreporter, what)
        for reason, count in sorted(reasons.items()):
            write(f"{what} left out: {count} tests: {reason}")
        if not reasons:
            write(f"{what}s left out: none")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get(REQUIRED) and reporter is not None and exitstatus == 0 and _left_out(reporter):
        reporter.write_line(f"failed: {REQUIRED} is set, and oracles were left out", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
