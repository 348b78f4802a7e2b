#!/usr/bin/env bash
# Builds the image with podman and trains CartPole in it, as the image's user, with a read-only root and no
# capability, and prints its size and start time. Needs root, podman and debootstrap; no container engine's daemon,
# and no registry of images where it makes the Debian base itself:
#
#   deploy/image/try.sh [--quick] [PODMAN BUILD OPTION...]
#
# --quick tries the image that an earlier call built. Options such as --build-arg APT_OPTIONS="-o ..." and
# --volume FILE:/etc/apt/sources.list.d/FILE:ro say where Debian's packages come from.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
image=localhost/troupe
base=docker.io/library/debian:12-slim
limits=(--ulimit nofile=1024:1024 --ulimit nproc=1024:1024)  # where the caller's own are lower than podman's
volume=troupe-try
said=$(mktemp)

fail() {
  echo "image: $*" >&2
  exit 1
}

for tool in podman debootstrap; do
  command -v "$tool" >/dev/null || fail "no $tool: apt-get install podman runc debootstrap"
done
[[ $EUID -eq 0 ]] || fail "debootstrap and chroot need root"
podman=(podman)
command -v crun >/dev/null || podman=(podman --runtime runc)

# What debian:12-slim is, from Debian's own archive: a minimal system without pages and translations.
make_base() {
  local folder
  folder=$(mktemp -d)
  debootstrap --variant=minbase bookworm "$folder" >"$folder.log" || fail "debootstrap: see $folder.log"
  tar -C "$folder" -c --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' \
    --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' . |
    podman import - "$base"
  rm -rf "$folder" "$folder.log"
}

run_image() { "${podman[@]}" run --rm "${limits[@]}" "$@" 2> >(grep -v systemd >&2); }
seconds_of() {  # seconds_of COMMAND...: the median of five
  local i
  for i in 1 2 3 4 5; do
    /usr/bin/env bash -c 'TIMEFORMAT=%R; time "$@" >/dev/null 2>&1' - "$@" 2>&1
  done | sort -n | sed -n 3p
}

if [[ ${1:-} == --quick ]]; then
  shift
else
  "${podman[@]}" image exists "$base" || make_base
  "${podman[@]}" build --pull=never --network host --format docker "${limits[@]}" "$@" \
    -f deploy/image/Dockerfile -t "$image" .
fi

inspect() { "${podman[@]}" image inspect --format "$1" "$image"; }
[[ $(inspect '{{.Config.User}}') == 10001:10001 ]] || fail "expected the user 10001:10001"
[[ $(inspect '{{.HealthCheck.Test}}') == "[CMD troupe health]" ]] || fail "the image has no health check"

confined=(--read-only --network none --cap-drop ALL --security-opt no-new-privileges -v "$volume:/data")
"${podman[@]}" volume rm -f "$volume" >/dev/null
clean_up() {
  "${podman[@]}" rm -f "$volume" >/dev/null 2>&1 || true
  "${podman[@]}" volume rm -f "$volume" >/dev/null || true
  rm -f "$said"
}
trap clean_up EXIT

echo "== who it is"
run_image "${confined[@]}" --entrypoint id "$image"
echo "== CartPole"
run_image "${confined[@]}" "$image" train --env CartPole-v1 -n 100000 --seed 1 --json >"$said" ||
  fail "training ended with $?"
head -2 "$said"
solved=$(tail -1 "$said" | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["solved"])')
[[ $solved == True ]] || fail "CartPole-v1 was not solved"

echo "== health, and the end by SIGTERM"
"${podman[@]}" run -d --name "$volume" "${limits[@]}" "${confined[@]}" "$image" \
  train -n 1000000000 checkpoint.every_updates=10 2>/dev/null >/dev/null
for _ in $(seq 100); do
  ! "${podman[@]}" exec "$volume" troupe health --ready 2>/dev/null || break
  sleep 0.1
done
"${podman[@]}" exec "$volume" troupe health --ready || fail "the run does not become ready"
sleep 2
"${podman[@]}" stop -t 20 "$volume" >/dev/null 2>&1
"${podman[@]}" logs "$volume" 2>/dev/null | grep 'go on with' || fail "SIGTERM did not end the run"

megabytes() { echo $(($("${podman[@]}" image inspect --format '{{.Size}}' "$1") / 1000000)); }
run=("${podman[@]}" run --rm "${limits[@]}" "${confined[@]}")
echo "== figures"
echo "size: $(megabytes "$image") MB, of which Debian $(megabytes "$base") MB"
echo "start to end of /bin/true in it: $(seconds_of "${run[@]}" --entrypoint true "$image") s"
echo "start to end of troupe --version: $(seconds_of "${run[@]}" "$image" --version) s"
echo "start to end of troupe list, which loads libtorch: $(seconds_of "${run[@]}" "$image" list) s"
