# flocklimitctl(1) completion for fish.

# --store and its URL, if the line has them.
function __flocklimitctl_store
    set -l words (commandline -opc)
    set -l i (contains -i -- --store $words)
    and printf '%s\n' $words[$i..(math $i + 1)]
    string match -r -- '^--store=.*' $words
end

function __flocklimitctl_limiters
    flocklimitctl list --raw (__flocklimitctl_store) 2>/dev/null | awk 'NR > 1 { print $1 }'
end

# The words before the one that is completed: verb, and the arguments that are no options, in $args;
# the limiter as flocklimitctl wants it in $limiter.
function __flocklimitctl_parse -S
    set -l words (commandline -opc)
    set verb $words[2]
    set -e words[1..2]
    set -l follows f/file=
    test "$verb" = log; and set follows f/follow file=
    argparse -i h/help V/version json raw text idle repair all n/lines= N/name= o/output= s/signal= t/timeout= store= \
        $follows -- $words 2>/dev/null
    set args $_flag_name $argv
    set signal $_flag_signal
    set limiter $args[1]
    set -q _flag_all; and set limiter --all; and return
    set -q _flag_file; and set limiter --file $_flag_file; or set -e args[1]
end

# True for these verbs.
function __flocklimitctl_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

# True where these verbs want their limiter, or one more.
function __flocklimitctl_wants
    __flocklimitctl_verb $argv; or return
    set -l verb; set -l args; set -l limiter; set -l signal
    __flocklimitctl_parse
    contains -- $verb list stats rm pause resume close open; or test -z "$limiter"
end

# True where such a verb has its limiter, and wants what comes then.
function __flocklimitctl_has
    __flocklimitctl_verb $argv; or return
    set -l verb; set -l args; set -l limiter; set -l signal
    __flocklimitctl_parse
    test -n "$limiter"; and begin
        test $verb != limit; or test -z "$args"
    end
end

# The tickets of the kind that the verb is about, each with its command.
function __flocklimitctl_tickets
    set -l verb; set -l args; set -l limiter; set -l signal
    __flocklimitctl_parse
    set -l kind waiting
    test -n "$signal"; and set kind holding
    test $verb = release; and set kind kept
    test $verb = break; and set kind holding
    flocklimitctl show --raw (__flocklimitctl_store) $limiter 2>/dev/null | awk -v kind=$kind '
        NF == 1 { on = $1 == kind || ($1 == "holding" && kind == "kept"); next }
        $1 == "TICKET" || $2 == "TICKET" { column = $1 == "TICKET" ? 1 : 2; next }
        NF == 0 { on = 0 }
        on && (kind != "kept" || $7 == "--hold-for") {
            ticket = $column
            for (i = 1; i < 6 + column; i++)
                sub(/^ *[^ ]+/, "")
            sub(/^ +/, "")
            print ticket "\t" $0
        }'
end

set -l verbs list show top limit rate stagger ramp pause resume close open wait cancel release break log gantt stats check rm
complete -c flocklimitctl -f
complete -c flocklimitctl -n __fish_use_subcommand -a list -d 'All limiters, with what they hold'
complete -c flocklimitctl -n __fish_use_subcommand -a show -d 'Who holds, who waits, and why'
complete -c flocklimitctl -n __fish_use_subcommand -a top -d 'The same, live'
complete -c flocklimitctl -n __fish_use_subcommand -a limit -d 'Override every -n, until auto'
complete -c flocklimitctl -n __fish_use_subcommand -a rate -d 'At most so many starts per time'
complete -c flocklimitctl -n __fish_use_subcommand -a stagger -d 'At least so long between two starts'
complete -c flocklimitctl -n __fish_use_subcommand -a ramp -d 'Begin with few units, and grow'
complete -c flocklimitctl -n __fish_use_subcommand -a pause -d 'Nothing new starts'
complete -c flocklimitctl -n __fish_use_subcommand -a resume -d 'Go on'
complete -c flocklimitctl -n __fish_use_subcommand -a close -d 'Turn waiters and newcomers away'
complete -c flocklimitctl -n __fish_use_subcommand -a open -d 'Admit again'
complete -c flocklimitctl -n __fish_use_subcommand -a wait -d 'Until everything that is there now is done'
complete -c flocklimitctl -n __fish_use_subcommand -a cancel -d 'Take waiters out of the line, or signal a holder'
complete -c flocklimitctl -n __fish_use_subcommand -a release -d 'End a permit of flocklimit --hold-for'
complete -c flocklimitctl -n __fish_use_subcommand -a break -d 'Take a permit of a store away'
complete -c flocklimitctl -n __fish_use_subcommand -a log -d 'What happened'
complete -c flocklimitctl -n __fish_use_subcommand -a gantt -d 'What happened, as a picture'
complete -c flocklimitctl -n __fish_use_subcommand -a stats -d 'Counters and histograms, as Prometheus reads them'
complete -c flocklimitctl -n __fish_use_subcommand -a check -d 'Verify every invariant'
complete -c flocklimitctl -n __fish_use_subcommand -a rm -d 'Remove limiters that nobody uses'

complete -c flocklimitctl -n "__flocklimitctl_wants $verbs" -a '(__flocklimitctl_limiters)'
complete -c flocklimitctl -n '__flocklimitctl_has limit' -a 'auto 0 1 2 4 8 16 50% 100%'
complete -c flocklimitctl -n '__flocklimitctl_has rate' -a '1/s 10/s 30/m 60/m 100/h off'
complete -c flocklimitctl -n '__flocklimitctl_has stagger' -a '100ms 1s 10s off'
complete -c flocklimitctl -n '__flocklimitctl_has ramp' -a '1+1/1s 1+1/30s 1+1/1m off'
complete -c flocklimitctl -n '__flocklimitctl_verb ramp' -l ramp-idle -x -a '100ms 1s 10s 1m 10m 1h 1d' -d 'Anew after nothing was held so long'
complete -c flocklimitctl -n '__flocklimitctl_has cancel release break' -k -a '(__flocklimitctl_tickets)'

complete -c flocklimitctl -n "__flocklimitctl_verb $verbs; and not __flocklimitctl_verb log" -s f -l file -r -F -d 'The limiter kept in a file'
complete -c flocklimitctl -n '__flocklimitctl_verb log' -l file -r -F -d 'The limiter kept in a file'
complete -c flocklimitctl -s N -l name -x -a '(__flocklimitctl_limiters)' -d 'The limiter'
complete -c flocklimitctl -l store -x -d 'A store that many machines reach'
complete -c flocklimitctl -s h -l help -d Help
complete -c flocklimitctl -s V -l version -d Version
complete -c flocklimitctl -n '__flocklimitctl_verb list show log stats check' -l json -d 'For programs'
complete -c flocklimitctl -n '__flocklimitctl_verb list show log stats' -l raw -d 'Seconds and numbers as they are'
complete -c flocklimitctl -n '__flocklimitctl_verb wait' -s t -l timeout -x -a '100ms 1s 10s 1m 10m 1h 1d' -d 'No longer than that'
complete -c flocklimitctl -n '__flocklimitctl_verb cancel' -s s -l signal -x -a 'TERM INT HUP QUIT KILL USR1 USR2 ALRM CONT STOP TSTP' -d 'Send it to a holder'
complete -c flocklimitctl -n '__flocklimitctl_verb log' -s f -l follow -d 'Go on as things happen'
complete -c flocklimitctl -n '__flocklimitctl_verb log' -s n -l lines -x -a '10 100 1000' -d 'The last so many events'
complete -c flocklimitctl -n '__flocklimitctl_verb gantt' -l text -d 'In the terminal'
complete -c flocklimitctl -n '__flocklimitctl_verb gantt' -s o -l output -r -F -d 'Into a file'
complete -c flocklimitctl -n '__flocklimitctl_verb check' -l repair -d 'Rebuild what is damaged'
complete -c flocklimitctl -n '__flocklimitctl_verb limit pause resume close open' -l all -d 'All limiters, and new ones'
complete -c flocklimitctl -n '__flocklimitctl_verb rm' -l idle -d 'All that nobody uses'
