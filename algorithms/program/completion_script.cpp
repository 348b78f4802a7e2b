// The scripts of the shells. @NAME@ stands for the program's name, @ID@ for a name of a function.

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "algorithms/program/completion.hpp"

namespace troupe::command {

namespace {

constexpr const char* bash_script =
    R"SCRIPT(# Completion of @NAME@ in bash: source <(@NAME@ completion bash)
_@ID@_complete() {
  local program=${COMP_WORDS[0]} rest=${COMP_LINE:0:COMP_POINT} words=() i word line
  [[ $program != "~/"* ]] || program=$HOME/${program:2}
  # Bash cuts words at = and :, so they are put together again.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    [[ $i -gt 0 && $rest != [[:space:]]* ]] || words+=("")
    rest=${rest#"${rest%%[![:space:]]*}"}
    [[ $i -lt $COMP_CWORD ]] || word=$rest
    words[-1]+=$word
    rest=${rest#"$word"}
  done
  COMPREPLY=()
  local paths=""
  while IFS= read -r line; do
    if [[ $line == :* ]]; then
      paths=${line#:}
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <("$program" __complete "${words[@]:1}" 2>/dev/null </dev/null)
  # It replaces only what is behind the last cut.
  local last=${words[-1]} cuts=${COMP_WORDBREAKS//[!=:]/}
  if [[ -n $cuts ]]; then
    local before=${last%"${last##*["$cuts"]}"}
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
  fi
  case $paths in
    files) compopt -o default 2>/dev/null ;;
    directories) compopt -o dirnames 2>/dev/null ;;
  esac
  [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _@ID@_complete @NAME@
)SCRIPT";

constexpr const char* zsh_script = R"SCRIPT(#compdef @NAME@
# Completion of @NAME@ in zsh: source <(@NAME@ completion zsh)
_@ID@() {
  local program=${(Q)words[1]} line value
  local -a before lines whole begun
  program=${program/#\~\//$HOME/}
  before=("${(@Q)words[2,CURRENT-1]}")
  (( CURRENT > 2 )) || before=()
  lines=("${(@f)$("$program" __complete "${before[@]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  for line in $lines; do
    if [[ $line == :* ]]; then
      [[ $PREFIX != -*=* ]] || compset -P '*='
      [[ $line == :directories ]] && _files -/ || _files
      return
    fi
    value=${${line%%$'\t'*}//:/\\:}
    [[ $line != *$'\t'* ]] || value+=:${line#*$'\t'}
    if [[ ${line%%$'\t'*} == *= ]]; then begun+=("$value"); else whole+=("$value"); fi
  done
  (( $#whole == 0 )) || _describe -V value whole
  (( $#begun == 0 )) || _describe -V option begun -S ''
}
if [[ $funcstack[1] == _@ID@ ]]; then _@ID@ "$@"; else compdef _@ID@ @NAME@; fi
)SCRIPT";

constexpr const char* fish_script =
    R"SCRIPT(# Completion of @NAME@ in fish: @NAME@ completion fish | source
function __@ID@_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    for line in ($program __complete $words[2..-1] "$current" 2>/dev/null </dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :directories
                __fish_complete_directories $current ''
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c @NAME@ -f -k -a '(__@ID@_complete)'
)SCRIPT";

void replace_all(std::string& in, const std::string& what, const std::string& by) {
  for (auto at = in.find(what); at != std::string::npos; at = in.find(what, at + by.size()))
    in.replace(at, what.size(), by);
}

}  // namespace

std::string completion_script(const std::string& shell, const std::string& program) {
  const auto name = program.substr(program.find_last_of('/') + 1);
  auto id = name;
  std::ranges::replace_if(id, [](unsigned char c) { return !std::isalnum(c); }, '_');
  std::string script =
      shell == "bash"  ? bash_script
      : shell == "zsh" ? zsh_script
      : shell == "fish"
          ? fish_script
          : throw std::invalid_argument("expected bash, zsh or fish, got \"" + shell + '"');
  replace_all(script, "@NAME@", name);
  replace_all(script, "@ID@", id);
  return script;
}

}  // namespace troupe::command
