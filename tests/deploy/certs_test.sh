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

run certs revoke pki --name 'gpu-*'
[[ $code -eq 0 ]] && grep -q 'gpu-\* is revoked in pki/crl.pem and its copies:' out &&
  cmp -s pki/crl.pem pki/head/crl.pem && cmp -s pki/crl.pem pki/gpu-any/crl.pem
report "revoke makes a list, and copies it to every process" $?
openssl crl -in pki/crl.pem -CAfile pki/ca.pem -noout -crlnumber >out 2>err && grep -q 'verify OK' err && grep -qi 'crlNumber=0x0*1$' out
report "openssl verifies it" $?
openssl verify -crl_check -CAfile pki/ca.pem -CRLfile pki/crl.pem pki/head/cert.pem >out 2>err
report "openssl verifies who is not revoked" $?
openssl verify -crl_check -CAfile pki/ca.pem -CRLfile pki/crl.pem pki/gpu-any/cert.pem >out 2>err
[[ $? -ne 0 ]] && grep -q 'certificate revoked' err
report "and not who is" $?
run certs add pki --name one
run certs revoke pki --name one --json
holds "revoke prints what is to be copied" "s == {'revoked': 'one', 'list': 'pki/crl.pem', 'copies': ['pki/gpu-any/crl.pem', 'pki/head/crl.pem', 'pki/one/crl.pem']}"
openssl crl -in pki/crl.pem -noout -crlnumber -text >out 2>err
grep -qi 'crlNumber=0x0*2$' out && [[ $(grep -c 'Serial Number:' out) -eq 2 ]]
report "the list grows" $?
run certs revoke pki --name two
[[ $code -eq 2 ]] && grep -q 'cannot read pki/two/cert.pem' err
report "who was never added is not revoked" $?
run node --join 127.0.0.1:1 --name one --certs pki/one --metrics-port 0
[[ $code -eq 1 ]] && grep -q 'the certificate of "one" has been revoked' err
report "a process that is revoked does not start" $?

finish
