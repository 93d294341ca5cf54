# Completion of the tapestry command for bash. `make install` copies it to bash-completion's folder;
# zsh takes it after `autoload bashcompinit; bashcompinit`.
_tapestry() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=''
  COMPREPLY=()
  case $before in
    --checkpoint|--out)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W 'png svg' -- "$word") && return ;;
    --*) [[ ' --resume --overwrite --attention-only --causal ' == *" $before "* ]] || return ;;
  esac
  if ((COMP_CWORD == 1)); then
    words='analyze why train generate plot tape lab doctor --help --version'
  else
    case ${COMP_WORDS[1]} in
      analyze) words='--checkpoint --text --layer --head --out --format' ;;
      why) words='--checkpoint --text --query --key --layer --head' ;;
      train)
        words='copy reverse sort induction grammar'
        words+=' --checkpoint --steps --batch --rate --layers --heads --width --length'
        words+=' --save-every --seed --out --format --attention-only --overwrite --resume' ;;
      generate)
        words='--checkpoint --text --length --count --temperature --top-k --top-p --seed' ;;
      plot) words='--tensor --out --format' ;;
      tape) words='neuron softmax attention --out --format' ;;
      lab)
        words='--lengths --heads --width --batch --causal --window --repeats --threads --seconds' ;;
    esac
    words+=' --help'
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  if [[ ${COMP_WORDS[1]} == @(train|plot) && $word != -* ]]; then  # files too
    compopt -o filenames
    local files
    mapfile -t files < <(compgen -f -- "$word")
    COMPREPLY+=("${files[@]}")
  fi
}
complete -F _tapestry tapestry
