#!/bin/bash
# compile.sh ROOT UP CCACHE COMPILER ARGUMENT...: compiles through ccache, so that a clone in another folder finds what this
# one has compiled. UP is the path from the build folder to ROOT, the folder of this clone; all paths below ROOT are given
# to the compiler relative to the build folder, but those in definitions, which the program itself reads.
#
# ccache hashes a precompiled header by its bytes, which hold absolute paths. Beside each one therefore lies a file .sum,
# which ccache takes instead: a hash of its command and of all files that it was made of.
set -euo pipefail
root=$1 up=$2 ccache=$3
shift 3
arguments=()
output=""
previous=""
for argument in "$@"; do
  [[ $previous != -o ]] || output=$argument
  if [[ $argument != -D* ]]; then
    argument=${argument//"$root"\//"$up"/}
    argument=${argument/%"$root"/"$up"}
  fi
  arguments+=("$argument")
  previous=$argument
done
if [[ $output == *.pch ]]; then
  "${arguments[@]}"
  {
    printf '%s\n' "${arguments[@]}"
    sed -e 's/^[^:]*: //' -e 's/\\$//' "$output.d" | xargs sha256sum
  } | sha256sum >"$output.sum"
else
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_PCH_EXTSUM=true
  exec "$ccache" "${arguments[@]}"
fi
