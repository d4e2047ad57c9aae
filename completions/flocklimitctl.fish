# SPDX-License-Identifier: ISC
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

# The words before the one that is completed.  Options may come before the verb, where -f is --file.
# Sets $verb; $args to the names and what follows them; $limiter to what flocklimitctl show wants.
function __flocklimitctl_parse -S
    set -l words (commandline -opc)
    set -e words[1]
    set -l early
    while string match -q -- '-*' "$words[1]"
        set -a early (string replace -r -- '^-f$' --file $words[1])
        if contains -- $words[1] -N -f -n -o -s -t --file --gate-patience --lines --name --output --ramp-idle --settle --signal --store --timeout --unit
            set -e words[1]
            set -q words[1]; and set -a early $words[1]
        end
        set -e words[1]
    end
    set verb $words[1]
    set -e words[1]
    set -l follows f/file= follow
    test "$verb" = log; and set follows f/follow file=
    argparse -i h/help V/version json raw text idle repair all n/lines= N/name=+ o/output= s/signal= t/timeout= store= \
        ramp-idle= settle= gate-patience= unit= $follows -- $early $words 2>/dev/null
    set args $_flag_name $argv
    set signal $_flag_signal
    set limiter $args[1]
    set -q _flag_all; and set limiter --all
    set -q _flag_file; and set limiter --file $_flag_file
end

# True before the verb.
function __flocklimitctl_begins
    set -l verb; set -l args; set -l limiter; set -l signal
    __flocklimitctl_parse
    test -z "$verb"
end

# True for these verbs.
function __flocklimitctl_verb
    set -l wanted $argv
    set -l verb; set -l args; set -l limiter; set -l signal
    __flocklimitctl_parse
    contains -- "$verb" $wanted
end

# True for these verbs, and before the verb.
function __flocklimitctl_option
    __flocklimitctl_begins; or __flocklimitctl_verb $argv
end

# True where these verbs want their limiter, or one more.
function __flocklimitctl_wants
    __flocklimitctl_verb $argv; or return
    set -l verb; set -l args; set -l limiter; set -l signal
    __flocklimitctl_parse
    test "$limiter[1]" = --all; and return 1
    contains -- $verb cancel release shrink break why; and begin
        test -z "$limiter"
        return
    end
    contains -- $verb limit rate stagger ramp seat when; or return 0
    test -z "$args"; or __flocklimitctl_known $args
end

# True if all these are limiters.
function __flocklimitctl_known
    set -l known (__flocklimitctl_limiters)
    for name in $argv
        contains -- $name $known; or return
    end
end

# True where such a verb has its limiter, and wants what comes then.
function __flocklimitctl_has
    __flocklimitctl_verb $argv; or return
    set -l verb; set -l args; set -l limiter; set -l signal
    __flocklimitctl_parse
    test -n "$limiter"; or return
    contains -- $verb limit rate stagger ramp seat when; or return 0
    test -z "$args"; or __flocklimitctl_known $args
end

# True behind the seats of the verb seat.
function __flocklimitctl_has_seats
    __flocklimitctl_verb seat; or return
    set -l verb; set -l args; set -l limiter; set -l signal
    __flocklimitctl_parse
    string match -qr -- '^[0-9][0-9,-]*$' "$args[-1]"
end

# The tickets of the kind that the verb is about, each with its seat, its host and its command.
# The columns of hosts and seats are not always there, and STARTS IN is two words.
function __flocklimitctl_tickets
    set -l verb; set -l args; set -l limiter; set -l signal
    __flocklimitctl_parse
    set -l kind waiting
    test -n "$signal"; and set kind holding
    test $verb = release; and set kind kept
    contains -- $verb shrink break; and set kind holding
    flocklimitctl show --raw (__flocklimitctl_store) $limiter 2>/dev/null | awk -v kind=$kind '
        NF == 1 { on = $1 == kind || ($1 == "holding" && kind == "kept"); next }
        $1 == "TICKET" || $2 == "TICKET" {
            split("", at)
            for (i = 1; i <= NF; i++)
                at[$i] = i
            command = at["COMMAND"] - ("STARTS" in at)
            next
        }
        NF == 0 { on = 0 }
        on && (kind != "kept" || $command == "--hold-for") {
            ticket = $at["TICKET"]
            where = ("SEAT" in at ? "seat " $at["SEAT"] ", " : "") ("HOST" in at ? $at["HOST"] ", " : "")
            for (i = 1; i < command; i++)
                sub(/^ *[^ ]+/, "")
            sub(/^ +/, "")
            print ticket "\t" where $0
        }'
end

set -l verbs list show top limit rate stagger ramp seat when pause resume close open wait cancel release shrink break log why gantt stats suggest check path rm
complete -c flocklimitctl -f
complete -c flocklimitctl -n __flocklimitctl_begins -a list -d 'All limiters, with what they hold'
complete -c flocklimitctl -n __flocklimitctl_begins -a show -d 'Holders and waiters, for how long, and why'
complete -c flocklimitctl -n __flocklimitctl_begins -a top -d 'The same, live'
complete -c flocklimitctl -n __flocklimitctl_begins -a limit -d 'Override every -n until auto; 0: start none'
complete -c flocklimitctl -n __flocklimitctl_begins -a rate -d 'Allow so many starts per time'
complete -c flocklimitctl -n __flocklimitctl_begins -a stagger -d 'Keep so much time between two starts'
complete -c flocklimitctl -n __flocklimitctl_begins -a ramp -d 'Begin with FROM units, add STEP each DUR'
complete -c flocklimitctl -n __flocklimitctl_begins -a seat -d 'Take seats out of use, or put them back'
complete -c flocklimitctl -n __flocklimitctl_begins -a when -d 'Start only while the machine has room'
complete -c flocklimitctl -n __flocklimitctl_begins -a pause -d 'Start nothing new; takers wait'
complete -c flocklimitctl -n __flocklimitctl_begins -a resume -d 'Start waiters again'
complete -c flocklimitctl -n __flocklimitctl_begins -a close -d 'Reject waiters and newcomers'
complete -c flocklimitctl -n __flocklimitctl_begins -a open -d 'Admit takers again'
complete -c flocklimitctl -n __flocklimitctl_begins -a wait -d 'Wait until all present takers are done'
complete -c flocklimitctl -n __flocklimitctl_begins -a cancel -d 'Take waiters out of the line; signal a holder'
complete -c flocklimitctl -n __flocklimitctl_begins -a release -d 'End permits of flocklimit --hold-for'
complete -c flocklimitctl -n __flocklimitctl_begins -a shrink -d 'Give back units of a permit that is held'
complete -c flocklimitctl -n __flocklimitctl_begins -a break -d 'Take permits of a store from their holders'
complete -c flocklimitctl -n __flocklimitctl_begins -a log -d 'What happened'
complete -c flocklimitctl -n __flocklimitctl_begins -a why -d 'What a ticket waits or waited for'
complete -c flocklimitctl -n __flocklimitctl_begins -a gantt -d 'What happened, as a picture (SVG)'
complete -c flocklimitctl -n __flocklimitctl_begins -a stats -d 'Counters and histograms for Prometheus'
complete -c flocklimitctl -n __flocklimitctl_begins -a suggest -d 'Weights that fit the memory of commands'
complete -c flocklimitctl -n __flocklimitctl_begins -a check -d 'Verify every invariant'
complete -c flocklimitctl -n __flocklimitctl_begins -a path -d 'Print its path, for flocklimit --fd'
complete -c flocklimitctl -n __flocklimitctl_begins -a rm -d 'Remove unused limiters'

complete -c flocklimitctl -n "__flocklimitctl_wants $verbs" -a '(__flocklimitctl_limiters)'
complete -c flocklimitctl -n '__flocklimitctl_has limit' -a 'auto 0 1 2 4 8 16 50% 100%'
complete -c flocklimitctl -n '__flocklimitctl_has rate' -a '1/s 10/s 30/m 60/m 100/h off'
complete -c flocklimitctl -n '__flocklimitctl_has stagger' -a '100ms 1s 10s off'
complete -c flocklimitctl -n '__flocklimitctl_has ramp' -a '1+1/1s 1+1/30s 1+1/1m off'
complete -c flocklimitctl -n '__flocklimitctl_has seat' -a '0 1 2 3 4 5 6 7'
complete -c flocklimitctl -n __flocklimitctl_has_seats -a 'off on'
complete -c flocklimitctl -n '__flocklimitctl_has when' -a off
complete -c flocklimitctl -n '__flocklimitctl_option when' -l settle -x -a '0 1s 2s 5s 10s' -d 'Look again so long after a start'
complete -c flocklimitctl -n '__flocklimitctl_option when' -l gate-patience -x -a '10s 1m 10m never' -d 'Start anyway when nothing has run so long'
complete -c flocklimitctl -n '__flocklimitctl_option ramp' -l ramp-idle -x -a '100ms 1s 10s 1m 10m 1h 1d' -d 'Anew after nothing was held so long'
complete -c flocklimitctl -n '__flocklimitctl_has cancel release shrink break why' -k -a '(__flocklimitctl_tickets)'

complete -c flocklimitctl -n 'not __flocklimitctl_verb log' -s f -l file -r -F -d 'The limiter kept in a file'
complete -c flocklimitctl -n '__flocklimitctl_verb log' -l file -r -F -d 'The limiter kept in a file'
complete -c flocklimitctl -s N -l name -x -a '(__flocklimitctl_limiters)' -d 'The limiter'
complete -c flocklimitctl -l store -x -d 'A store that many machines reach'
complete -c flocklimitctl -s h -l help -d Help
complete -c flocklimitctl -s V -l version -d Version
complete -c flocklimitctl -n '__flocklimitctl_option list show log why stats suggest check' -l json -d 'For programs'
complete -c flocklimitctl -n '__flocklimitctl_option list show log why stats suggest' -l raw -d 'Seconds and numbers as they are'
complete -c flocklimitctl -n '__flocklimitctl_option wait' -s t -l timeout -x -a '100ms 1s 10s 1m 10m 1h 1d' -d 'No longer than that'
complete -c flocklimitctl -n '__flocklimitctl_option cancel' -s s -l signal -x -a 'TERM INT HUP QUIT KILL USR1 USR2 ALRM CONT STOP TSTP' -d 'Send it to a holder'
complete -c flocklimitctl -n '__flocklimitctl_option log' -s f -l follow -d 'Go on as things happen'
complete -c flocklimitctl -n '__flocklimitctl_option log' -s n -l lines -x -a '10 100 1000' -d 'The last so many events'
complete -c flocklimitctl -n '__flocklimitctl_option gantt' -l text -d 'In the terminal'
complete -c flocklimitctl -n '__flocklimitctl_option gantt' -s o -l output -r -F -d 'Into a file'
complete -c flocklimitctl -n '__flocklimitctl_option suggest' -l unit -x -a '256M 512M 1G 2G 4G' -d 'The memory that one unit stands for'
complete -c flocklimitctl -n '__flocklimitctl_option check' -l repair -d 'Rebuild what is damaged'
complete -c flocklimitctl -n '__flocklimitctl_option show limit pause resume close open wait log gantt suggest check' -l all -d 'All limiters'
complete -c flocklimitctl -n '__flocklimitctl_option rm' -l idle -d 'All unused limiters'
