# Completion for winnow(1) in bash.
_winnow() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} i
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "record report html view serve ship fleet export diff heap info dump compact status start stop rate unit help --version --help" -- "$current")
    return
  fi
  case $command in
    record)
      # Options that take a value are those with a word in capitals behind them.
      local help valued
      help=$("${COMP_WORDS[0]/#\~/$HOME}" help record 2>/dev/null)
      valued=" $(sed -nE 's/^  (-.), (--[a-z-]+) [A-Z]+ .*/\1 \2/p' <<<"$help" | tr '\n' ' ') "
      # Behind "--" or the program's name stands another command line: complete it as one.
      for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
          --) _command_offset $((i + 1)) 2>/dev/null; return ;;
          -*) [[ $valued = *" ${COMP_WORDS[i]} "* ]] && ((i++)) ;;
          *) _command_offset "$i" 2>/dev/null; return ;;
        esac
      done
      case $previous in
        -o | --output) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        -r | --rate) mapfile -t COMPREPLY < <(compgen -W "1e-5 1e-4 1e-3 1e-2 1" -- "$current"); return ;;
        -b | --budget) mapfile -t COMPREPLY < <(compgen -W "1% 2% 5%" -- "$current"); return ;;
        -m | --max-trace) mapfile -t COMPREPLY < <(compgen -W "16M 64M 256M 1G" -- "$current"); return ;;
        -p | --python-allocator) mapfile -t COMPREPLY < <(compgen -W "yes no" -- "$current"); return ;;
        -e | --every) mapfile -t COMPREPLY < <(compgen -W "8K 64K 512K 1M" -- "$current"); return ;;
      esac
      [[ $valued = *" $previous "* ]] && return
      case $current in
        -*) mapfile -t COMPREPLY < <(compgen -W "$(sed -nE 's/^  -., (--[a-z-]+).*/\1/p' <<<"$help") --help --" -- "$current") ;;
        *) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
      esac
      ;;
    report | html | view | serve | ship | fleet | export | diff | heap | info | dump | compact | status | start | stop | rate | unit)
      case $previous in
        -o | --output) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --max-size) mapfile -t COMPREPLY < <(compgen -W "4M 16M 64M" -- "$current"); return ;;
        -m | --max-trace) mapfile -t COMPREPLY < <(compgen -W "16M 64M 256M" -- "$current"); return ;;
        --max-memory) mapfile -t COMPREPLY < <(compgen -W "1G 4G 16G" -- "$current"); return ;;
        --token-file | --password-file | --ca) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        -l | --listen)
          if [[ $command = serve ]]; then
            mapfile -t COMPREPLY < <(compgen -W "127.0.0.1:6060 unix:" -- "$current")
            return
          fi
          ;;&
        --samples) mapfile -t COMPREPLY < <(compgen -W "300K 1M all" -- "$current"); return ;;
        -d | --duration | -l | --loop) mapfile -t COMPREPLY < <(compgen -W "30s 5m 1h" -- "$current"); return ;;
        -r | --rate) mapfile -t COMPREPLY < <(compgen -W "1e-5 1e-4 1e-3 1e-2 1" -- "$current"); return ;;
        -b | --budget)
          if [[ $previous = --budget || $command = @(start|rate|unit) ]]; then
            mapfile -t COMPREPLY < <(compgen -W "1% 2% 5%" -- "$current")
            return
          fi
          ;;&
        -a | --at) mapfile -t COMPREPLY < <(compgen -W "peak end" -- "$current"); return ;;
        -b | --by) mapfile -t COMPREPLY < <(compgen -W "function line file module process host release thread type $([[ $command = @(report|export) ]] && echo stack)" -- "$current"); return ;;
        -s | --sort) mapfile -t COMPREPLY < <(compgen -W "self total blocks samples" -- "$current"); return ;;
        -p | --per) mapfile -t COMPREPLY < <(compgen -W "second allocation run host" -- "$current"); return ;;
        --search) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
      esac
      local help options
      help=$("${COMP_WORDS[0]/#\~/$HOME}" help "$command" 2>/dev/null)
      case $command$previous in
        export-f | export--format)
          mapfile -t COMPREPLY < <(compgen -W "$(sed -nE '/^Formats:/,/^$/s/^  ([a-z0-9_]+) .*/\1/p' <<<"$help")" -- "$current")
          return
          ;;
        export-q | export--quantity)
          mapfile -t COMPREPLY < <(compgen -W "held held-blocks allocated allocated-blocks" -- "$current")
          return
          ;;
      esac
      # Options that take a value are those with a word in capitals behind them.
      sed -nE 's/^  (-., |    )(--[a-z-]+) [A-Z]+ .*/\1\2/p' <<<"$help" | grep -q -e "^$previous," -e " $previous\$" && return
      options="$(sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p' <<<"$help") --help"
      case $current in
        -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
        *)
          if [[ $command = fleet ]]; then
            [[ $COMP_CWORD = 2 ]] && mapfile -t COMPREPLY < <(compgen -W "$(sed -nE '/^Actions:/,/^$/s/^  ([a-z]+) .*/\1/p' <<<"$help")" -- "$current")
            return
          fi
          local processes=
          [[ $command = @(serve|ship|dump|compact|status|start|stop|rate) ]] &&
            processes=$("${COMP_WORDS[0]/#\~/$HOME}" status --json 2>/dev/null | sed -n 's/^ *"pid": \([0-9]*\),/\1/p')
          compopt -o filenames
          mapfile -t COMPREPLY < <(compgen -W "$processes" -- "$current"; compgen -f -- "$current")
          ;;
      esac
      ;;
    help) mapfile -t COMPREPLY < <(compgen -W "record report html view serve ship fleet export diff heap info dump compact status start stop rate unit help" -- "$current") ;;
  esac
}
complete -F _winnow winnow
