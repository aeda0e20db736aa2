#!/usr/bin/env python3
"""Wraps the folder that scripts/package makes: a Debian package, a wheel, an npm package, a list of components, checksums.

    packaging/wrap.py FOLDER VERSION MACHINE

Writes beside FOLDER. The same folder gives the same bytes, wherever and whenever this runs. Uses the standard library only, and
dpkg-deb for the Debian package.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile

# `baton` is the name of other packages on Debian, PyPI and npm.
NAME = "baton-orchestrator"
SUMMARY = "A durable orchestrator for coding agents"
LICENSE = "MIT OR Apache-2.0"
# All files carry this time, so that nothing in an archive depends on when it was made. 2026-01-01.
EPOCH = 1767225600
ZIP_TIME = (2026, 1, 1, 0, 0, 0)

DEBIAN_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
NPM_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, version, machine = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    out = folder.parent
    made = [
        debian(folder, out, version, machine),
        wheel(folder, out, version, machine),
        npm(folder, out, version, machine),
        components(out, version, machine),
    ]
    made += sorted(out.glob(f"baton-{version}-*.tar.gz"))
    sums = "".join(f"{sha256(path.read_bytes())}  {path.name}\n" for path in sorted(made))
    (out / "SHA256SUMS").write_text(sums)
    print(sums, end="")


def debian(folder, out, version, machine):
    """Installs below /usr; `baton` needs git and nothing else."""
    path = out / f"{NAME}_{version}_{DEBIAN_MACHINES[machine]}.deb"
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        shutil.copytree(folder, root / "usr")
        (root / "usr/share/doc/baton").rename(root / f"usr/share/doc/{NAME}")
        # Debian looks for units and completions of zsh in other places than a home folder does.
        (root / "usr/lib/systemd").mkdir(parents=True)
        (root / "usr/share/systemd/user").rename(root / "usr/lib/systemd/user")
        (root / "usr/share/systemd").rmdir()
        (root / "usr/share/zsh/site-functions").rename(root / "usr/share/zsh/vendor-completions")
        (root / "DEBIAN").mkdir()
        size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file()) // 1024
        (root / "DEBIAN/control").write_text(
            f"Package: {NAME}\nVersion: {version}\nArchitecture: {DEBIAN_MACHINES[machine]}\n"
            "Maintainer: The Baton authors\n"
            f"Installed-Size: {size}\nDepends: git\nRecommends: bubblewrap\nConflicts: baton\n"
            f"Section: devel\nPriority: optional\nDescription: {SUMMARY}\n"
            " Runs coding agents from a durable queue, verifies what they report, asks a person\n"
            " what is theirs to decide, and survives crashes without losing work.\n"
        )
        for file in [root, *root.rglob("*")]:
            file.chmod(0o755 if file.is_dir() or os.access(file, os.X_OK) else 0o644)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)}
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(path)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return path


def wheel(folder, out, version, machine):
    """`pip install` puts the program into the environment's bin folder."""
    package = NAME.replace("-", "_")
    path = out / f"{package}-{version}-py3-none-manylinux_2_17_{machine}.musllinux_1_1_{machine}.whl"
    info = f"{package}-{version}.dist-info"
    tags = "".join(f"Tag: py3-none-{tag}_{machine}\n" for tag in ("manylinux_2_17", "musllinux_1_1"))
    files = {
        f"{package}-{version}.data/scripts/baton": ((folder / "bin/baton").read_bytes(), 0o755),
        f"{info}/METADATA": (
            f"Metadata-Version: 2.4\nName: {NAME}\nVersion: {version}\nSummary: {SUMMARY}\n"
            f"License-Expression: {LICENSE}\nDescription-Content-Type: text/markdown\n\n"
            f"{(folder / 'share/doc/baton/README.md').read_text()}".encode(), 0o644),
        f"{info}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: packaging/wrap.py\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, (data, _) in files.items()
    )
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)
    return path


def npm(folder, out, version, machine):
    """`npm install --global` links the program; npm refuses it on another system."""
    path = out / f"{NAME}-{version}-{NPM_MACHINES[machine]}.tgz"
    description = {
        "name": NAME,
        "version": version,
        "description": SUMMARY,
        "license": LICENSE,
        "bin": {"baton": "bin/baton"},
        "os": ["linux"],
        "cpu": [NPM_MACHINES[machine]],
        "files": ["bin/baton"],
    }
    doc = folder / "share/doc/baton"
    files = [
        ("package/package.json", (json.dumps(description, indent=2) + "\n").encode(), 0o644),
        ("package/README.md", (doc / "README.md").read_bytes(), 0o644),
        ("package/LICENSE-MIT", (doc / "LICENSE-MIT").read_bytes(), 0o644),
        ("package/LICENSE-APACHE", (doc / "LICENSE-APACHE").read_bytes(), 0o644),
        ("package/bin/baton", (folder / "bin/baton").read_bytes(), 0o755),
    ]
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data, mode in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), mode, EPOCH
            tar.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(archive.getvalue(), 9, mtime=0))
    return path


def components(out, version, machine):
    """What is linked into the program, as CycloneDX: each crate with its licence and the checksum of Cargo.lock."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={machine}-unknown-linux-gnu"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    locked = tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]
    checksums = {(crate["name"], crate["version"]): crate.get("checksum") for crate in locked}

    def linked_by(node):
        """A crate that is used by a build script or a test only is not in the program."""
        return sorted(
            dependency["pkg"]
            for dependency in nodes[node]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        )

    root = next(id for id, package in packages.items() if package["name"] == "baton")
    found, left = set(), [root]
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += linked_by(node)

    def purl(node):
        return f"pkg:cargo/{packages[node]['name']}@{packages[node]['version']}"

    def component(node):
        package = packages[node]
        one = {"type": "library", "bom-ref": purl(node), "name": package["name"], "version": package["version"], "purl": purl(node)}
        if package["license"]:
            one["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if checksum := checksums.get((package["name"], package["version"])):
            one["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return one

    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": purl(root), "name": "baton", "version": version}},
        "components": [component(node) for node in sorted(found - {root}, key=purl)],
        "dependencies": [
            {"ref": purl(node), "dependsOn": [purl(other) for other in linked_by(node)]} for node in sorted(found, key=purl)
        ],
    }
    path = out / f"baton-{version}.cdx.json"
    path.write_text(json.dumps(bill, indent=1) + "\n")
    return path


def sha256(data):
    return hashlib.sha256(data).hexdigest()


main()
