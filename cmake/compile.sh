#!/bin/bash
# compile.sh ROOT CCACHE COMPILER ARGUMENT...: compiles through ccache, so that a clone in another folder finds what this
# one has compiled. All paths below ROOT, the folder of this clone, are given to the compiler relative to the folder that it
# runs in, except those in definitions, which the program itself reads.
#
# ccache hashes a precompiled header by its bytes, which hold absolute paths. Beside each one therefore lies a file .sum,
# which ccache takes instead: a hash of its command and of all files that it was made of.
set -euo pipefail
root=$1 ccache=$2
shift 2
# The kernel resolves .. from the folder itself, also where the way to it is a link.
up=$(realpath --no-symlinks --relative-to="$(pwd -P)" "$root")
arguments=()
output=""
previous=""
for argument in "$@"; do
  [[ $previous != -o ]] || output=$argument
  if [[ $previous != -D && $argument != -D* ]]; then
    case $argument in
      "$root" | "$root"/*) argument=$up${argument#"$root"} ;;
      -[A-Za-z]*"$root" | -[A-Za-z]*"$root"/*)
        before=${argument%%"$root"*}
        # Behind an option's name, as in -I, or a sign: otherwise ROOT is in the middle of another path.
        [[ $before == */* ]] || argument=$before$up${argument#"$before$root"}
        ;;
    esac
  fi
  arguments+=("$argument")
  previous=$argument
done
if [[ $output == *.pch ]]; then
  "${arguments[@]}"
  {
    printf '%s\n' "${arguments[@]}"
    # As xargs reads words: behind the target, without the ends of lines, with quotes that are characters.
    sed -e 's/^[^:]*: //' -e 's/\\$//' -e "s/['\"]/\\\\&/g" "$output.d" | xargs sha256sum
  } | sha256sum >"$output.sum"
else
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_PCH_EXTSUM=true
  exec "$ccache" "${arguments[@]}"
fi
