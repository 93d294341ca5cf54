# Completion of the tapestry command for bash. `make install` copies it to bash-completion's folder;
# zsh takes it after `autoload bashcompinit; bashcompinit`.
_tapestry() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=''
  COMPREPLY=()
  [[ ${COMP_WORDS[1]} == hand && $before == --@(query|key|value|output) ]] && before='--npy'
  [[ ${COMP_WORDS[1]} == tokens && $before == --count ]] && before=''  # without a value there
  case $before in
    --task)
      mapfile -t COMPREPLY < <(compgen -W 'copy reverse sort induction majority brackets grammar' -- "$word")
      return ;;
    --checkpoint|--model|--adapters|--tokenizer|--train|--fit|--texts|--json|--npy|--table|--save|\
      --out|--beside)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W 'png svg' -- "$word") && return ;;
    --*) [[ ' --resume --overwrite --attention-only --causal --answer --why --recorded --verbose --probabilities --whole --step --divide-state ' == *" $before "* ]] || return ;;
  esac
  if ((COMP_CWORD == 1)); then
    words='analyze why attribute cut patch lens circuit explore train hand generate convert tokens plot tape lab compare bits zoo doctor --help --version'
  else
    case ${COMP_WORDS[1]} in
      analyze) words='--checkpoint --model --adapters --text --layer --head --pattern --table --out --format' ;;
      why) words='--checkpoint --model --adapters --text --query --key --layer --head' ;;
      attribute|cut|patch|lens)
        words='--checkpoint --model --adapters --text --token --against --position'
        words+=' --json --npy --out --format'
        case ${COMP_WORDS[1]} in
          attribute) words+=' --texts' ;;
          cut) words+=' --texts --draws --seed' ;;
          patch) words+=' --texts --from --layer' ;;
          lens) words+=' --fit' ;;
        esac ;;
      circuit)
        words='--checkpoint --model --adapters --text --layer --head --from --json --npy'
        words+=' --out --format' ;;
      explore) words='--adapters --text --beside --recorded --out' ;;
      train)
        words='copy reverse sort induction majority brackets grammar'
        words+=' --checkpoint --steps --batch --micro-batches --divide-state --ranks --rate --layers --heads --width --length'
        words+=' --save-every --snapshots --seed --out --format --attention-only --overwrite --resume'
        words+=' --merges --model --rank --maps --alpha --adapters --whole --save' ;;
      hand)
        words='--head --query --key --value --output --sharpness --task --length --text --beside'
        words+=' --out --json --npy' ;;
      generate)
        words='--checkpoint --model --adapters --text --length --count --temperature --top-k'
        words+=' --top-p --seed --repetition-penalty --stop --probabilities' ;;
      convert) words='--tokenizer' ;;
      tokens) words='--model --why --count --train --merges --out' ;;
      plot) words='--model --tensor --out --format' ;;
      tape) words='neuron softmax attention masked --step --json --out --format' ;;
      lab)
        words='--lengths --heads --width --batch --causal --window --repeats --threads --seconds' ;;
      compare) words='--verbose' ;;
      zoo)
        words='--answer --out --format'
        words+=' map1 map2 map3 map4 map5 map6 map7 map8 loss1 loss2 loss3 loss4 loss5 loss6'
        words+=' jacobian1 jacobian2 jacobian3 jacobian4 jacobian5' ;;
    esac
    words+=' --help'
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  if [[ ${COMP_WORDS[1]} == @(explore|train|convert|plot|tape|compare|bits) && $word != -* ]]; then  # files too
    compopt -o filenames
    local files
    mapfile -t files < <(compgen -f -- "$word")
    COMPREPLY+=("${files[@]}")
  fi
}
complete -F _tapestry tapestry
