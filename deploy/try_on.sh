#!/usr/bin/env bash
# Makes a minimal Debian in a folder, clones the commit that is checked out into it, and runs the
# README's two commands there: try_on.sh bookworm|trixie [--run-only] [--fresh] [--root DIR]
#
#   --run-only   ends after ./dev run
#   --fresh      removes the Debian that an earlier call made, and begins anew
#   --root DIR   where the Debian lies (default: build/try-on/NAME); one that is there is used
#
# The Debian, its packages, the build and ccache's cache stay, so that the next call builds only what
# has changed. What the commands print is in DIR.log, too, and the last line says what passed and how
# long it took. Needs root and debootstrap.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
repository=$PWD
clone=/work/troupe  # in the Debian

fail() {
  echo "try-on: $*" >&2
  exit 1
}

read_arguments() {
  name="" folder="" fresh="" run_only=""
  while [[ $# -gt 0 ]]; do
    case $1 in
      --run-only) run_only=yes ;;
      --fresh) fresh=yes ;;
      --root)
        [[ $# -gt 1 && -n $2 ]] || fail "--root: expected a folder"
        folder=$2
        shift
        ;;
      bookworm | trixie)
        [[ -z $name ]] || fail "expected one of bookworm and trixie, got both $name and $1"
        name=$1
        ;;
      *) fail "expected bookworm or trixie, --run-only, --fresh or --root DIR, got '$1'" ;;
    esac
    shift
  done
  [[ -n $name ]] || fail "expected bookworm (Debian 12) or trixie (Debian 13)"
  folder=$(realpath -m -- "${folder:-build/try-on/$name}")
  [[ $repository/ != "${folder%/}"/* ]] || fail "--root: expected a folder of its own, got $folder"
  mark=$folder/.try-on  # says that this script made the folder
  log=$folder.log
}

check_tools() {
  [[ $EUID -eq 0 ]] || fail "debootstrap and chroot need root: sudo ./dev try-on $name"
  command -v debootstrap >/dev/null ||
    fail "debootstrap is not installed: apt-get install debootstrap"
  command -v git >/dev/null || fail "git is not installed: apt-get install git"
}

# ---- the Debian ---------------------------------------------------------------------------------

remove() {  # remove FOLDER: only where nothing is mounted below
  local line place
  while read -r line; do
    place=$(printf '%b' "$line")  # a space is written \040
    [[ $place/ != "$1"/* ]] || fail "$place is mounted: unmount it before $1 is removed"
  done < <(awk '{ print $5 }' /proc/self/mountinfo)
  rm -rf --one-file-system -- "$1"
}

# The archive of Debian that this machine's apt uses; nothing where it uses none.
find_mirror() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 2>/dev/null |
    sed -n 1p
}

make_debian() {
  local mirror
  mirror=$(find_mirror || true)
  remove "$folder.new"  # what an interrupted call left
  echo "Making Debian's $name in $folder"
  mkdir -p "$folder.new"
  debootstrap --variant=minbase "$name" "$folder.new" ${mirror:+"$mirror"} ||
    fail "debootstrap failed: see above, and $folder.new/debootstrap/debootstrap.log"
  # A machine that was installed knows its own name; nothing is to start the services of packages.
  [[ -e $folder.new/etc/hosts ]] ||
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$folder.new/etc/hosts"
  printf '#!/bin/sh\nexit 101\n' >"$folder.new/usr/sbin/policy-rc.d"
  chmod 755 "$folder.new/usr/sbin/policy-rc.d"
  touch "$folder.new/.try-on"
  mv -T "$folder.new" "$folder"
}

prepare_debian() {
  if [[ -n $fresh && -e $folder ]]; then
    [[ -e $mark ]] || fail "--fresh: $folder was not made by ./dev try-on, and is left alone"
    remove "$folder"
  fi
  if [[ ! -e $folder ]] || rmdir -- "$folder" 2>/dev/null; then make_debian; fi
  grep -qs "^VERSION_CODENAME=$name\$" "$folder/etc/os-release" ||
    fail "$folder is no Debian $name: remove it, or give another folder with --root DIR"
  cp --dereference --remove-destination /etc/resolv.conf "$folder/etc/resolv.conf"
}

# What is checked out here, and nothing that was not committed. Files that did not change keep their
# times.
clone_commit() {
  local there=$folder$clone settings
  settings=$(mktemp)
  printf '[safe]\n  directory = *\n' >"$settings"  # the repository may be another user's
  export GIT_CONFIG_GLOBAL=$settings
  [[ -d $there/.git ]] || git init --quiet --initial-branch=tried "$there"
  git -C "$there" fetch --quiet "$repository" HEAD
  git -C "$there" reset --quiet --hard FETCH_HEAD
  git -C "$there" clean --quiet --force -d  # not what git ignores: the build and the runs stay
  commit=$(git -C "$there" log -1 --format='%h (%s)')
  [[ -z $(git status --porcelain --untracked-files=no) ]] ||
    echo "What is not committed here is not tried."
  rm -f "$settings"
  unset GIT_CONFIG_GLOBAL
}

# in_debian COMMAND...: runs it in the clone. Mounts and processes are in namespaces of their own:
# the kernel takes back all of them with the first process there, and kills that with this script,
# however it ends.
in_debian() {
  local proxy="" kept=()
  eval "$(apt-config shell proxy Acquire::http::Proxy 2>/dev/null || true)"
  [[ -z ${http_proxy:-$proxy} ]] || kept+=("http_proxy=${http_proxy:-$proxy}")
  [[ -z ${https_proxy:-} ]] || kept+=("https_proxy=$https_proxy")
  [[ -z ${no_proxy:-} ]] || kept+=("no_proxy=$no_proxy")
  # shellcheck disable=SC2016
  exec setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child \
    bash -euc '
      trap "exit 130" INT TERM
      folder=$1 clone=$2
      shift 2
      mount -t proc proc "$folder/proc"
      mount --rbind /sys "$folder/sys"
      mount --rbind /dev "$folder/dev"
      mount -t tmpfs tmpfs "$folder/dev/shm"
      cd "$folder$clone"
      chroot "$folder" /usr/bin/env -i "$@"
      exit $?' \
    try-on "$folder" "$clone" HOME=/root LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" "${kept[@]}" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /bin/sh -c 'cd "$0" && exec "$@"' "$clone" "$@"
}

# ---- the README's two commands -------------------------------------------------------------------

said=()  # what each command came to

try() {  # try COMMAND...: returns what the command does
  local status=0 began=$SECONDS counts
  echo "== $*" | tee -a "$log"
  (in_debian "$@") </dev/null 2>&1 | tee -a "$log" || status=$?
  counts=$(tail -n 1 "$log" | grep -xE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' || true)
  local verdict=passed
  [[ $status -eq 0 ]] || verdict=FAILED
  said+=("$* $verdict${counts:+ ($counts)} in $((SECONDS - began)) s")
  return "$status"
}

read_arguments "$@"
check_tools
mkdir -p "$(dirname "$folder")"
: >"$log"
prepare_debian
clone_commit
echo "== $commit on Debian's $name" | tee -a "$log"
status=0
try ./dev run || status=1
if [[ $status -eq 0 && -z $run_only ]]; then try ./dev test || status=1; fi
summary=$(printf '%s; ' "${said[@]}")
echo "try-on $name: ${summary%; } (log: $log)" | tee -a "$log"
exit "$status"
