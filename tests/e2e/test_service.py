"""The examples of docs/service.md in order, and the service as the container runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from factcheck.documents.results import read_results
from factcheck.facts import CoverageReport
from factcheck.testing import LocalOpenAIServer
from tests.e2e.conftest import ROOT, blocks
from tests.server.conftest import Start

CONTAINER = ROOT / "docs" / "container"
PAGE = "docs/service"
URL = "http://127.0.0.1:8000"
SOURCE = "Rome is big. Oslo is dry."
RECORDS = [{"id": str(n), "source": SOURCE, "summary": f"Rome is big. {n}"} for n in range(3)]


@pytest.mark.usefixtures("program")
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_examples_run(start: Start, model: LocalOpenAIServer, tmp_path: Path) -> None:
    serve, score, jobs, _ = blocks(PAGE, "bash")
    (tmp_path / "records.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in RECORDS))
    options = serve.split()[2:]
    options[options.index("jobs.sqlite")] = str(tmp_path / "jobs.sqlite")
    service = start(*options)
    assert service.judges == "main, local"

    def shell(script: str) -> str:
        done = subprocess.run(  # noqa: S603 - our own page
            ["/bin/bash", "-euc", script.replace(URL, service.url)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    report = CoverageReport.from_json(shell(score))
    assert (report.score, len(report.facts)) == (0.5, 2)
    scope: dict[str, Any] = {"source": SOURCE, "summary": "Rome is big."}
    use, minicheck = blocks(PAGE, "python")
    exec(f"import factcheck\nimport httpx\n{use}".replace(URL, service.url), scope)  # noqa: S102 - our own page
    assert scope["report"].score == 0.5
    exec(f"import openai\n{minicheck}".replace(URL, service.url), scope)  # noqa: S102
    assert scope["answer"].choices[0].message.content == "Yes"
    scope["client"].close()

    submit, end = jobs.split("curl -s -X DELETE", 1)
    wait = 'until curl -s "$url/v1/jobs/$job" | grep -q done; do sleep 0.05; done\n'
    before, after = submit.split('curl -s "http://127.0.0.1:8000/v1/jobs/$job" ', 1)
    shell(f'{before}url={URL}\n{wait}curl -s "{URL}/v1/jobs/$job" {after}curl -s -X DELETE{end}')
    assert [row["id"] for row in read_results(tmp_path / "rows.jsonl")] == ["0", "1", "2"]
    assert "Mean coverage" in (tmp_path / "run.html").read_text("utf-8")
    assert not model.requests


def test_the_keys_of_the_page_are_digests(start: Start, tmp_path: Path) -> None:
    *_, make = blocks(PAGE, "bash")
    (keys,) = blocks(PAGE, "yaml")
    printed = subprocess.run(  # noqa: S603 - our own page
        ["/bin/bash", "-euc", f"{make}\necho $key"], capture_output=True, text=True, check=True
    ).stdout
    digest, _, key = printed.split()
    first = yaml.safe_load(keys)[0]["sha256"]
    (tmp_path / "keys.yaml").write_text(keys.replace(first, digest), "utf-8")
    service = start("--judge", "local-fast", "--keys", str(tmp_path / "keys.yaml"))
    for given, status in ((key, 200), (first, 401)):
        request = urllib.request.Request(  # noqa: S310 - our own service
            f"{service.url}/metrics", headers={"Authorization": f"Bearer {given}"}
        )
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310
                assert answer.status == status
        except urllib.error.HTTPError as refused:
            assert refused.code == status
            refused.close()


def test_the_container_runs_without_root_on_a_read_only_system(tmp_path: Path) -> None:
    """Its command line and environment, in a mount namespace instead of a container."""
    lines = (CONTAINER / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    said = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in lines if " " in line}
    services = yaml.safe_load((CONTAINER / "compose.yaml").read_text("utf-8"))["services"]
    user, group = said["USER"].split(":")
    for one in services.values():
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]
        assert one["security_opt"] == ["no-new-privileges:true"]
    assert "0" not in {user, group, services["redis"]["user"]}
    assert services["factcheck"]["ports"] == ["127.0.0.1:8000:8000"]
    if os.name == "nt" or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root, to give it up")
    drop = f"setpriv --reuid {user} --regid {group} --clear-groups --no-new-privs"
    able = f"PYTHONPATH={ROOT} {drop} {sys.executable} -c 'import factcheck.cli'"
    if subprocess.run(["/bin/bash", "-c", able], capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip(f"user {user} cannot run this checkout")

    (tmp_path / "keys.yaml").write_text(f"- name: a\n  sha256: {'0' * 64}\n", "utf-8")
    program = [*json.loads(said["ENTRYPOINT"]), *services["factcheck"]["command"], "--port=0"]
    replaced = {"factcheck": sys.executable, "/run/secrets/": "/mnt/", "/data/": "/mnt/data/"}
    arguments = " ".join(program[1:]).replace("redis://redis:6379/0", "off")
    arguments = arguments.replace("${FACTCHECK_JUDGE:-local}", "local-fast")
    for old, new in list(replaced.items())[1:]:
        arguments = arguments.replace(old, new)
    environment = said["ENV"].split(" ", 1)[1].replace("/data/", "/mnt/data/")
    environment = environment.replace("HOME=/tmp", "HOME=/mnt/tmp TMPDIR=/mnt/tmp")
    check = json.loads(said["HEALTHCHECK"].split("CMD ")[1])[2]
    script = f"""
        set -eu
        mount -t tmpfs tmpfs /mnt
        install -m 644 {tmp_path}/keys.yaml /mnt/keys.yaml
        install -d -o {user} -g {group} /mnt/data /mnt/tmp
        mount -o remount,ro,bind /
        cd /
        export PYTHONPATH={ROOT} {environment}
        {drop} {sys.executable} -m factcheck {arguments} 2>/mnt/tmp/log &
        until grep -q Serving /mnt/tmp/log
        do kill -0 $! || {{ cat /mnt/tmp/log; exit 1; }}; sleep .1
        done
        port=$(sed -n 's/^Serving.*://p' /mnt/tmp/log)
        touch /denied 2>/dev/null && exit 9
        {drop} {sys.executable} -c "$(echo "{check}" | sed s/8000/$port/)"
        stat -c '%u %a' /mnt/data/jobs.sqlite
        kill $!
        wait $!
    """
    done = subprocess.run(  # noqa: S603 - our own script
        ["/usr/bin/unshare", "--mount", "/bin/bash", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.stderr.startswith("unshare: "):
        pytest.skip("no mount namespaces here")
    assert done.stdout == f"{user} 600\n", done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
