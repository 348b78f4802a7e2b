# What ./dev install and ./dev uninstall share, behind common.sh: the folder that is installed into.
# shellcheck shell=bash

# take_prefix [--prefix DIR]: the folder that is installed into, and the list of what was installed there.
take_prefix() {
  prefix=${HOME:-}/.local
  if [[ $# -gt 0 ]]; then
    [[ $1 == --prefix ]] || refuse_usage "$command: expected --prefix DIR, got '$1'"
    [[ -n ${2:-} ]] || refuse_usage "--prefix: expected a folder, got nothing"
    [[ $# -eq 2 ]] || refuse_usage "$command: expected nothing after --prefix DIR, got '$3'"
    prefix=$2
  fi
  # CMake cuts or keeps such names in ways of its own, and then the list of what was installed is wrong.
  case $prefix in
    *[$'\n\r\\;']* | *" ") refuse_usage "--prefix: expected a folder without ';', '\\', a line break, or a space at its end, got '$prefix'" ;;
  esac
  prefix=$(cd "$called_in" && realpath -m -- "$prefix")
  installed_list=$prefix/share/troupe/install_manifest.txt
}

require_writable_prefix() {
  local folder=$prefix
  while [[ ! -e $folder ]]; do folder=$(dirname "$folder"); done
  [[ -d $folder ]] || fail "--prefix $prefix: expected a folder, but $folder is a file"
  [[ -w $folder && -x $folder ]] ||
    fail "--prefix $prefix: you have no right to write into $folder; give another folder, or call this as its owner"
}

# remove_installed: the files of the prefix that stdin names, one a line, and the folders that are empty then.
remove_installed() {
  local file folder
  while IFS= read -r file; do
    [[ $file == "$prefix"/* && $file != */.. && $file != */../* ]] || continue
    [[ ! -d $file || -L $file ]] || continue
    # A link in the prefix may lead out of it.
    folder=$(realpath -m -- "$(dirname "$file")")
    [[ $folder/ == "$prefix"/* ]] || continue
    rm -f -- "$file"
    folder=$(dirname "$file")
    while [[ $folder == "$prefix"/* ]] && rmdir -- "$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
  done
}
