# Completion for winnow(1) in fish. The commands and options are those that the help prints.
function __winnow_commands
    winnow help 2>/dev/null | string match -rg '^  ([a-z]+) +(.*)$' | while read -l name
        read -l summary
        printf '%s\t%s\n' $name $summary
    end
end
function __winnow_options
    set -l words (commandline -opc)
    winnow help $words[2] 2>/dev/null | string match -rg '^  (?:-., |    )(--[a-z-]+)(?: [A-Z]+)? +(.*)$' | while read -l name
        read -l summary
        printf '%s\t%s\n' $name $summary
    end
end
complete -c winnow -n __fish_use_subcommand -f -a '(__winnow_commands)'
complete -c winnow -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -f -a '(__winnow_options)'
complete -c winnow -n '__fish_seen_subcommand_from record; and not string match -q -- "-*" (commandline -ct)' -a '(__fish_complete_command)'
