# flocklimitctl(1) completion for fish.

function __flocklimitctl_limiters
    flocklimitctl list --raw 2>/dev/null | awk 'NR > 1 { print $1 }'
end

function __flocklimitctl_tickets
    set -l words (commandline -opc)
    flocklimitctl show --raw $words[3] 2>/dev/null |
        awk '$1 == "TICKET" { on = 1; next } $2 == "TICKET" { on = 2; next }
            on && $on ~ /^[0-9]+$/ { print $on }'
end

function __flocklimitctl_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

set -l verbs list show top limit pause resume close open wait cancel release log gantt stats check rm
complete -c flocklimitctl -f
complete -c flocklimitctl -n "not __fish_seen_subcommand_from $verbs" -a "$verbs"
complete -c flocklimitctl -n "__flocklimitctl_verb $verbs" -a '(__flocklimitctl_limiters)'
complete -c flocklimitctl -n '__flocklimitctl_verb limit' -a 'auto 0 1 2 4 8 16 50% 100%'
complete -c flocklimitctl -n '__flocklimitctl_verb cancel release' -a '(__flocklimitctl_tickets)'
complete -c flocklimitctl -l file -r -F -d 'The limiter kept in a file'
complete -c flocklimitctl -s h -l help -d Help
complete -c flocklimitctl -s V -l version -d Version
complete -c flocklimitctl -n '__flocklimitctl_verb list show log stats check' -l json -d 'For programs'
complete -c flocklimitctl -n '__flocklimitctl_verb list show log stats' -l raw -d 'Plain numbers'
complete -c flocklimitctl -n '__flocklimitctl_verb wait' -s t -l timeout -x -d 'No longer than that'
complete -c flocklimitctl -n '__flocklimitctl_verb cancel' -s s -l signal -x -a 'TERM INT HUP QUIT KILL USR1 USR2' -d 'To a holder'
complete -c flocklimitctl -n '__flocklimitctl_verb log' -s f -l follow -d 'As it happens'
complete -c flocklimitctl -n '__flocklimitctl_verb log' -s n -l lines -x -d 'So many events'
complete -c flocklimitctl -n '__flocklimitctl_verb gantt' -l text -d 'In the terminal'
complete -c flocklimitctl -n '__flocklimitctl_verb gantt' -s o -l output -r -F -d 'Into a file'
complete -c flocklimitctl -n '__flocklimitctl_verb check' -l repair -d 'Rebuild what is damaged'
complete -c flocklimitctl -n '__flocklimitctl_verb rm' -l idle -d 'All that nobody uses'
