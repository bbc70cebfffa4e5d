# Completion of headprune for bash. The program itself is asked, so that no name of a command, a key or a plug-in stands
# in a second place.
_headprune() {
  local line=${COMP_LINE:0:COMP_POINT} word before
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[-1]}
  mapfile -t COMPREPLY < <("${words[0]/#\~/$HOME}" complete -- "${words[@]:1}" 2> /dev/null)
  # Readline replaces only what follows the last character of COMP_WORDBREAKS.
  for before in = :; do
    if [[ $COMP_WORDBREAKS == *$before* && $word == *$before* ]]; then
      COMPREPLY=("${COMPREPLY[@]#"${word%"$before"*}$before"}")
      word=${word##*"$before"}
    fi
  done
  [[ ${COMPREPLY[0]-} == *[.=] ]] && compopt -o nospace
  return 0
}
complete -o default -F _headprune headprune
