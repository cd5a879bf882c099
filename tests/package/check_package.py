# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two projects of users: one finds an installed tally, one fetches its sources. Both build in build/package.
import shutil
import subprocess
import time
import unittest

import layout

FETCHED_SECONDS = 120  # the library from its sources, through ccache where that is installed


class Package(unittest.TestCase):
    def command(self, *arguments):
        run = subprocess.run([str(argument) for argument in arguments], cwd=layout.ROOT, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, (run.stdout + run.stderr)[-4000:])

    def consume(self, name, *options):
        """Configures, builds and runs the consumer in build/package/<name>."""
        folder = layout.BUILD / "package" / name
        shutil.rmtree(folder, ignore_errors=True)
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        compiler = layout.built_with("CMAKE_CXX_COMPILER") or "c++"
        self.command("cmake", "-S", layout.ROOT / "tests/package/consumer", "-B", folder, "-G", "Ninja",
                     "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={compiler}", *launcher, *options)
        self.command("cmake", "--build", folder, "--parallel", layout.cores())
        self.command(folder / "consumer")

    def test_installed(self):
        """a project finds an installed tally and runs a sum"""
        prefix = layout.BUILD / "package" / "prefix"
        shutil.rmtree(prefix, ignore_errors=True)
        self.command("cmake", "--install", layout.BUILD, "--prefix", prefix)
        self.assertTrue(any(prefix.rglob("tallyConfigVersion.cmake")))
        self.consume("installed", f"-DCMAKE_PREFIX_PATH={prefix}")

    def test_another_minor_version_is_refused(self):
        """find_package refuses another minor version"""
        versions = [*(layout.BUILD / "dsl").glob("tallyConfigVersion.cmake")]
        self.assertTrue(versions)
        script = layout.BUILD / "package" / "version.cmake"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text('set(PACKAGE_FIND_VERSION 0.2)\nset(PACKAGE_FIND_VERSION_MAJOR 0)\n'
                          'set(PACKAGE_FIND_VERSION_MINOR 2)\n' f'include("{versions[0]}")\n'
                          'if(PACKAGE_VERSION_COMPATIBLE)\n  message(FATAL_ERROR "0.2 accepted")\nendif()\n')
        self.command("cmake", "-DCMAKE_SIZEOF_VOID_P=8", "-P", script)

    def test_fetched(self):
        """a project fetches tally's sources and runs a sum"""
        started = time.monotonic()
        flags = layout.built_with("CMAKE_CXX_FLAGS_RELEASE") or "-O2 -DNDEBUG"
        # The same flags as our own build, so that ccache has seen every file of the library.
        self.consume("fetched", "-DBY_FETCHING=ON", "-DTALLY_DEV=ON", "-DCMAKE_CXX_EXTENSIONS=OFF",
                     f"-DCMAKE_CXX_FLAGS_RELEASE={flags}")
        self.assertLess(time.monotonic() - started, FETCHED_SECONDS)
