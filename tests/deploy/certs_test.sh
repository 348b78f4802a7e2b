#!/usr/bin/env bash
# troupe certs: certs_test.sh BUILD_DIR
set -uo pipefail
source "$(dirname "$0")/common.sh" "$1"

run certs init pki --json
[[ $code -eq 0 && $(stat -c %a pki/ca.key.pem) == 600 ]]
report "init makes an authority whose key is for its owner alone" $?
holds "and says so" "s['certificates'][0]['role'] == 'authority'"
run certs init pki
[[ $code -eq 2 ]] && grep -q 'pki/ca.pem exists already; --force replaces it' err
report "init overwrites nothing" $?

run certs add pki --name head --role controller --host localhost --host 127.0.0.1 --days 30
[[ $code -eq 0 ]] && grep -q 'give this process --certs pki/head' out
report "add makes a controller's folder and names it" $?
run certs add pki --name 'gpu-*' --json
[[ $code -eq 0 && $(stat -c %a pki/gpu-any/key.pem) == 600 ]]
report "add makes a node's folder for every name of a pattern" $?
holds "and prints what it says" "s['certificates'][0]['name'] == 'gpu-*' and s['certificates'][0]['hosts'] == []"
run certs add pki --name head --role controller
[[ $code -eq 2 ]] && grep -q 'exists already\|expected one for a controller' err
report "a controller without a host is refused" $?
run certs add pki --name a --role king
[[ $code -eq 2 ]]
report "an unknown role is refused" $?
run certs add pki --name a --hots b
[[ $code -eq 2 ]] && grep -q 'did you mean --host?.*troupe certs add --help' err
report "an unknown option of add is told the nearest" $?
run certs show nowhere
[[ $code -eq 2 ]] && grep -q 'nowhere/ca.pem' err
report "show names the file that is missing" $?

run certs show pki
[[ $code -eq 0 && $(wc -l <out) -eq 4 ]] && grep -q 'head *controller .*localhost 127.0.0.1' out
report "show lists them" $?
openssl verify -CAfile pki/ca.pem -purpose sslserver -verify_hostname localhost pki/head/cert.pem >out 2>err
report "openssl verifies a controller's certificate and its host" $?
openssl verify -CAfile pki/ca.pem -purpose sslclient pki/gpu-any/cert.pem >out 2>err
report "openssl verifies a node's certificate" $?

finish
