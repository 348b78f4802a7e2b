# What ./dev and the commands in tools/ share; they source it. It goes to the repository's root, and has their set-up, their
# builds and their locks.
# shellcheck shell=bash
set -euo pipefail
command=$(basename "$0")  # of ./dev: one of its own
called_in=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
python=/usr/bin/python3

print_help() {
  cat tools/help.txt
}

fail() {
  echo "./dev: $*" >&2
  exit 1
}

refuse_usage() {
  echo "./dev: $*" >&2
  print_help >&2
  exit 2
}

# ---- one ./dev at a time ------------------------------------------------------------------------

# with_lock NAME COMMAND...: runs the command while no other ./dev of this checkout runs one under the same name.
with_lock() {
  local lock=build/$1.lock
  shift
  mkdir -p build 2>/dev/null && [[ -w build ]] ||
    fail "expected to be able to write in the folder $PWD/build, and can't"
  (
    if ! flock --nonblock 9; then
      echo "./dev: waiting for another ./dev, which holds $lock" >&2
      flock --timeout 7200 9 || fail "another ./dev has held $lock for two hours"
    fi
    "$@" 9>&-
  ) 9>"$lock"
}

# ---- set-up -------------------------------------------------------------------------------------

# list_missing_packages LIST: the packages of that file that are missing, on one line. Of `one | other` the first
# is, where neither is installed.
list_missing_packages() {
  local line name installed missing=()
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
  while read -r line; do
    for name in ${line//|/ }; do
      ! grep -qxF -- "$name" <<<"$installed" || continue 2
    done
    missing+=("${line%% *}")
  done < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1")
  echo "${missing[*]}"
}

# install_packages [LIST]: those of deploy/packages.txt, or of another list.
install_packages() {
  local list=${1:-deploy/packages.txt}
  command -v dpkg-query >/dev/null ||
    fail "this is no Debian or Ubuntu system (no dpkg-query); $list lists what is needed"
  [[ -z $(list_missing_packages "$list") ]] || with_lock packages install_missing_packages "$list"
}

install_missing_packages() {
  local missing as_root=()
  missing=$(list_missing_packages "$1")
  [[ -n $missing ]] || return 0
  local install="apt-get install -y --no-install-recommends $missing"
  if [[ $EUID -ne 0 ]]; then
    as_root=(sudo)
    [[ -t 0 ]] || as_root=(sudo -n)  # nobody is there to type a password
  fi
  echo "Installing missing Debian packages: $missing"
  # shellcheck disable=SC2086
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq ||
    ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $install; then
    echo "Could not install them. Run this command, then ./dev again:" >&2
    echo "  sudo apt-get update && sudo $install" >&2
    exit 1
  fi
}

# ---- build --------------------------------------------------------------------------------------

# As many compilers as there are cores, fewer where memory is short: a libtorch file takes 1.5 GB.
count_jobs() {
  local cores gigabytes
  cores=$(nproc)
  gigabytes=$(awk '/^MemTotal/ { print int($2 / 1.5e6) }' /proc/meminfo)
  echo $((gigabytes < 1 ? 1 : gigabytes < cores ? gigabytes : cores))
}

# build_preset PRESET [TARGET...]
build_preset() {
  with_lock "$1" configure_and_build "$1" "build/$1" "${@:2}"
}

# configure_and_build PRESET FOLDER [TARGET...]
configure_and_build() {
  local preset=$1 folder=$2
  shift 2
  command -v cmake >/dev/null || fail "cmake is not installed: apt-get install cmake"
  [[ $folder/build.ninja -nt CMakePresets.json ]] || cmake --preset "$preset"
  build_folder "$folder" "$@"
}

build_folder() {
  local folder=$1
  shift
  cmake --build "$folder" --parallel "$(count_jobs)" ${1:+--target "$@"}
}

# Where the release build is, and the folder of the libtorch that --torch names: empty for the system's.
release=build/release
torch=""

build_release() {
  install_packages
  if [[ -n $torch ]]; then
    with_lock torch configure_and_build_with_torch "$@"
  else
    build_preset release "$@"
  fi
}

# The folder of a build keeps what it has found, so another libtorch than the last one's starts it anew.
configure_and_build_with_torch() {
  grep -qsxF "Torch_DIR:PATH=$torch/share/cmake/Torch" "$release/CMakeCache.txt" ||
    cmake --fresh --preset release -B "$release" -DCMAKE_PREFIX_PATH="$torch"
  build_folder "$release" "$@"
}

# take_torch DIR: what is built from now on is built with the libtorch in that folder, into build/torch.
take_torch() {
  [[ -n ${1:-} ]] || refuse_usage "--torch: expected the folder of a libtorch, got nothing"
  [[ -f $1/share/cmake/Torch/TorchConfig.cmake ]] ||
    fail "--torch $1: no libtorch is there (expected share/cmake/Torch/TorchConfig.cmake in it)"
  torch=$(cd "$1" && pwd)
  release=build/torch
}

# ---- options ------------------------------------------------------------------------------------

# take_options [WORD...]: those of every command, --help and --torch DIR, which stand first. `shift "$taken"` goes on behind
# them.
take_options() {
  taken=0
  case ${1:-} in
    -h | --help)
      print_help
      exit
      ;;
    --torch)
      case $command in
        run | test | build | install | bench | compare-llm | simulate | chaos | learning | two-nodes | kill-and-resume) ;;
        *) refuse_usage "$command takes no --torch" ;;
      esac
      take_torch "${2:-}"
      taken=2
      ;;
  esac
}
