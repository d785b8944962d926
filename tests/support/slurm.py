"""A Slurm of one node for tests: a real munged, slurmctld and slurmd in a folder, on their own ports of 127.0.0.1. The
node claims to have four processors and four GPUs, whatever the machine has.
"""

import contextlib
import ctypes
import os
import pathlib
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import time

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("sbatch", "squeue", "srun", "scancel", "scontrol", "sinfo")
SBIN = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
SLOTS = 4
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None)

CONFIGURATION = """\
ClusterName=tbench
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/node
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
GresTypes=gpu
KillWait=20
NodeName=localhost NodeAddr=127.0.0.1 CPUs={slots} Gres=gpu:{slots}
PartitionName=all Nodes=ALL Default=YES
"""


def why_not():
    """Returns what is missing to run Slurm, in words, or None."""
    missing = [name for name in (*DAEMONS, *COMMANDS) if shutil.which(name, path=SBIN) is None]
    if missing:
        return f"no {', '.join(missing)} (Debian: slurm-wlm, munge)"
    return "not root" if os.geteuid() != 0 else None


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_until(condition, what, seconds):
    """Waits until `condition()` returns a true value, and returns that value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within {seconds} s")


def parents():
    """Returns {process: parent process} of all running processes."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    return found


def descendants(process):
    known, family = parents(), {process}
    while True:
        more = {child for child, parent in known.items() if parent in family} - family
        if not more:
            return family - {process}
        family |= more


class Slurm:
    """Runs Slurm as a context manager. Leaving it ends everything that it has started."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "SBATCH", "SRUN", "TBENCH"))}
        self.environment.update(PATH=SBIN, SLURM_CONF=str(self.folder / "slurm.conf"))
        self.daemons = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphaned slurmstepd processes become children of this one
        for name in ("controller", "node"):
            (self.folder / name).mkdir()
        controller_port, node_port = free_ports(2)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(folder=self.folder, controller_port=controller_port, node_port=node_port, slots=SLOTS))
        self.make_gpus()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        self.start_daemon("munged", "--force", "--foreground", f"--socket={self.folder}/munge.socket", f"--key-file={key}", f"--pid-file={self.folder}/munge.pid",
                          f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed")
        wait_until((self.folder / "munge.socket").exists, "munged's socket", 20)
        self.start_daemon("slurmctld", "-D", "-c")
        self.start_daemon("slurmd", "-D", "-N", "localhost")
        try:
            wait_until(lambda: self.run("sinfo", "-h", "-o", "%T").stdout.strip() == "idle", "an idle node", 60)
        except AssertionError as late:
            raise AssertionError(f"{late}{self.logs()}") from late

    def make_gpus(self):
        """Makes devices like /dev/null. Where no device can be made, it makes files, which slurmd accepts with a
        warning.
        """
        for number in range(SLOTS):
            gpu = self.folder / f"gpu{number}"
            try:
                os.mknod(gpu, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            except PermissionError:
                gpu.touch()
        (self.folder / "gres.conf").write_text(f"NodeName=localhost Name=gpu File={self.folder}/gpu[0-{SLOTS - 1}]\n")

    def start_daemon(self, name, *arguments):
        with open(self.folder / f"{name}.out", "w") as out:
            self.daemons.append(subprocess.Popen([name, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.environment,
                                                 preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)))

    def stop(self):
        """Ends the jobs, then the daemons, then all other processes, each within a time limit."""
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):  # what does not end is killed below
            if len(self.daemons) == len(DAEMONS):
                self.run("scancel", "--user=root", timeout=20)
                wait_until(lambda: not self.run("squeue", "-h", timeout=20).stdout, "the jobs' end", 30)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons.clear()
        for left in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)

    def run(self, *words, timeout=60, variables=None, cwd=None):
        return subprocess.run([str(word) for word in words], text=True, capture_output=True, timeout=timeout, cwd=cwd,
                              env={**self.environment, **(variables or {})})

    def checked(self, *words, **options):
        done = self.run(*words, **options)
        if done.returncode != 0:
            raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}{self.logs()}")
        return done.stdout

    def logs(self):
        """Returns the last lines of the daemons' logs."""
        ends = [f"\n--- {path.name}\n" + "".join(path.read_text(errors="replace").splitlines(keepends=True)[-15:])
                for path in sorted((*self.folder.glob("*.log"), *self.folder.glob("*.out")))]
        return "".join(ends)

    def shown(self, job):
        """Returns what Slurm says about a job or a task of an array: {"JobState": ..., "Restarts": ...}. Slurm
        remembers a job for some minutes after its end.
        """
        words = self.checked("scontrol", "show", "job", "-o", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def wait_for_requeue(self, job):
        """Waits until a job that has started once is pending again."""

        def is_back():
            shown = self.shown(job)
            return shown["JobState"] == "PENDING" and shown["Restarts"] == "1"

        wait_until(is_back, f"job {job} back in the queue", 60)

    def start_now(self, job):
        """Starts a requeued job at once. Otherwise it would wait for two minutes."""
        self.checked("scontrol", "update", f"JobId={job}", "StartTime=now")

    def queued(self, job):
        """Returns whether Slurm has not yet finished a job."""
        return bool(self.run("squeue", "-h", "-j", job).stdout.strip())
