"""Notebooks side by side, with real kernels."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from vnnanalysis.errors import NotebookError
from vnnanalysis.runner import DIED, Job, run_jobs

pytestmark = pytest.mark.slow


@pytest.fixture
def notebook(tmp_path):
    """Write a notebook with one parameter, `out`, and one more cell; returns its path."""

    def write(name, source):
        cells = [nbformat.v4.new_code_cell(text) for text in ('out = "."', source)]
        cells[0].metadata.tags = ["parameters"]
        path = tmp_path / f"{name}.ipynb"
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(made, path)
        return path

    return write


COUNT = "from pathlib import Path; n = Path(out, 'n'); n.open('a').write('x')"
WAIT = "import time\nfor _ in range(600): time.sleep(0.1)"


@pytest.mark.length
def test_a_process_that_is_killed_takes_only_its_own_notebook_along(notebook, tmp_path):
    """What ran beside it is run again, what had not begun is run once."""
    killer = notebook(
        "killer",
        f"{COUNT}\nimport os, signal, time\n"
        "beside = Path(out, '../beside/n')\n"
        "while not (beside.exists() and beside.read_text()): time.sleep(0.05)\n"  # it has counted
        "os.kill(os.getppid(), signal.SIGKILL)",
    )
    beside = notebook("beside", f"{COUNT}\n{WAIT} if n.read_text() == 'x' else None")
    after = notebook("after", COUNT)
    jobs, started = [], []
    for path in (killer, beside, after):
        out = tmp_path / "out" / path.stem
        jobs.append(Job(path, out / path.name, {"out": str(out)}))
    done = {
        job.notebook.stem: failure
        for job, failure in run_jobs(jobs, 2, started=lambda job: started.append(job.notebook.stem))
    }
    assert (done["beside"], done["after"]) == (None, None)
    assert isinstance(done["killer"], NotebookError)
    assert done["killer"].problem == DIED
    times = {stem: len((tmp_path / "out" / stem / "n").read_text()) for stem in done}
    assert times == {"killer": 2, "beside": 2, "after": 1}
    assert {stem: started.count(stem) for stem in done} == times


@pytest.mark.length
def test_one_notebook_twice_at_once(notebook, tmp_path):
    """Each has a kernel of its own, and waits for the other."""
    path = notebook(
        "twice",
        f"{COUNT}\nimport time\nend = time.monotonic() + 60\n"
        "while len(list(Path(out).parent.glob('*/n'))) < 2 and time.monotonic() < end: "
        "time.sleep(0.05)\nassert time.monotonic() < end",
    )
    outs = [tmp_path / "out" / name for name in "ab"]
    jobs = [Job(path, out / path.name, {"out": str(out)}) for out in outs]
    assert [failure for _, failure in run_jobs(jobs, 2)] == [None, None]
    assert [(out / "n").read_text() for out in outs] == ["x", "x"]


RUN = """
import sys
from pathlib import Path
from vnnanalysis.runner import Job, run_jobs
if __name__ == "__main__":
    notebook, out = map(Path, sys.argv[1:])
    list(run_jobs([Job(notebook, out / notebook.name, {"out": str(out)})]))
"""


def exists(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.length
def test_ctrl_c_is_for_the_caller_alone(notebook, tmp_path):
    """A terminal sends it to every process; those that run notebooks go on until they are ended."""
    source = "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(0.5)"
    path, out = notebook("interrupts", f"{source}\n{COUNT}"), tmp_path / "out"
    [(_, failure)] = run_jobs([Job(path, out / path.name, {"out": str(out)})])
    assert failure is None
    assert (out / "n").read_text() == "x"


def test_what_nobody_expects_is_the_notebooks_own_failure(notebook, tmp_path):
    path, out = notebook("no_kernel", COUNT), tmp_path / "out"
    path.write_text(path.read_text().replace('"kernelspec"', '"kernel"'))
    [(_, failure)] = run_jobs([Job(path, out / path.name, {"out": str(out)})])
    assert failure.name == "no_kernel"
    assert "ValueError: No kernel name found" in failure.problem


@pytest.mark.length
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
def test_nothing_goes_on_where_the_caller_is_killed(notebook, tmp_path):
    path = notebook(
        "waits",
        "import os; from pathlib import Path; part = Path(out, 'part')\n"
        "part.write_text(f'{os.getpid()} {os.getppid()}'); part.rename(Path(out, 'pids'))\n"
        f"{WAIT}",
    )
    script, out = tmp_path / "run.py", tmp_path / "out"
    script.write_text(RUN)
    run = subprocess.Popen([sys.executable, str(script), str(path), str(out)])
    end = time.monotonic() + 60
    while not (out / "pids").exists() and time.monotonic() < end:
        time.sleep(0.05)
    pids = [int(pid) for pid in (out / "pids").read_text().split()]
    assert all(exists(pid) for pid in pids)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    end = time.monotonic() + 20
    while any(exists(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert [exists(pid) for pid in pids] == [False, False]
