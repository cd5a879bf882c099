# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# shellcheck shell=bash
#
# What tests/run and examples/run share: find or install the tools, configure and build. Sourced by bash, never run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
cores=$(nproc 2>/dev/null || echo 2)

say() { printf '%s\n' "$@"; } # one line an argument

# Seconds since an earlier $EPOCHREALTIME, one decimal.
seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

# A header counts as there when the compiler that will be used finds it.
has_header() { printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | g++ -x c++ -fsyntax-only - 2>/dev/null; }
has_toolkit() { [ -d "${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}/include" ] || command -v nvcc >/dev/null; }
has_gpu() { [ -e /dev/nvidiactl ] && [ -n "$(find /dev -maxdepth 1 -name 'nvidia[0-9]*' -print -quit)" ]; }

# The Debian and Ubuntu packages this machine still lacks, one a line.
missing_packages() {
  command -v cmake >/dev/null || say cmake
  command -v ninja >/dev/null || say ninja-build
  command -v ccache >/dev/null || say ccache
  command -v python3 >/dev/null || say python3
  if ! command -v g++ >/dev/null; then
    say g++ librange-v3-dev doctest-dev libfmt-dev nlohmann-json3-dev | tr ' ' '\n'
  else
    has_header range/v3/version.hpp || say librange-v3-dev
    has_header doctest/doctest.h || say doctest-dev
    has_header fmt/core.h || say libfmt-dev
    has_header nlohmann/json.hpp || say nlohmann-json3-dev
  fi
  has_toolkit || python3 -m pip --version >/dev/null 2>&1 || say python3-pip
}

install_what_is_missing() {
  local missing
  missing=$(missing_packages | tr '\n' ' ')
  [ -n "${missing// /}" ] || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing: $missing"
    # shellcheck disable=SC2086
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
      >/dev/null || { say "could not install: $missing"; exit 1; }
  else
    say "missing on this machine; install it with" "  sudo apt-get install -y $missing"
    exit 1
  fi
}

# Configures build/ as the preset `dev` and builds the targets named, everything where none is.
configure_and_build() {
  local started=$EPOCHREALTIME log=$build/configure.log
  mkdir -p "$build"
  (cd "$root" && cmake --preset dev) >"$log" 2>&1 || { cat "$log"; say "configuring failed"; return 1; }
  cmake --build "$build" --parallel "$cores" ${1:+--target "$@"} || { say "building failed"; return 1; }
  say "built in $(seconds_since "$started") s on $cores cores"
}

describe_machine() {
  local toolkit=no gpu=no
  has_toolkit && toolkit=yes
  has_gpu && gpu=yes
  say "CUDA toolkit: $toolkit, GPU: $gpu"
}
