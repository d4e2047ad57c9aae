# SPDX-License-Identifier: ISC
# flocklimit(1) completion for fish.

# --store and its URL, if the line has them.
function __flocklimit_store
    set -l words (commandline -opc)
    set -l i (contains -i -- --store $words)
    and printf '%s\n' $words[$i..(math $i + 1)]
    string match -r -- '^--store=.*' $words
end

# The limiter directory, as the program finds it.
function __flocklimit_limiters
    set -l store (__flocklimit_store)
    if test -n "$store$FLOCKLIMIT_STORE"
        flocklimitctl list $store 2>/dev/null | awk 'NR > 1 { print $1 }'
        return
    end
    set -l dir $FLOCKLIMIT_DIR
    set -l uid (id -u)
    if test -z "$dir" -a $uid = 0
        set dir /run/flocklimit-0
    else if test -z "$dir"
        set dir (find {/run/flocklimit,/run/lock,/dev/shm,/tmp}/flocklimit-$uid -prune \
            -type d -user $uid 2>/dev/null | head -n 1)
    end
    test -d "$dir"; and find $dir/ -maxdepth 1 -type f -printf '%f\n' 2>/dev/null
end

# The words of the command that flocklimit is to run, if the line has come that far.
function __flocklimit_rest
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1]
    argparse -s and=+ N/name= f/file= mode= n/limit= j/jobs= w/weight= yield= not-seat= t/timeout= \
        nonblock max-queue= E/conflict-exit-code= T/run-timeout= s/signal= \
        k/kill-after= preserve-status c/command= F/no-fork o/close nested= hold-for= fd= \
        rate= stagger= ramp= ramp-idle= when= settle= gate-patience= when-run= "jobserver=?" "background=?" until-ready \
        store= ttl= grace= on-lost= reclaim= local= \
        u/unlock v/verbose q/quiet h/help V/version -- $words 2>/dev/null
    or return 1
    set -q _flag_c; and return 1
    test -n "$argv"; or return 1
    string match -qr '^-' -- $argv[1]; and return 1
    string join0 -- $argv
end

function __flocklimit_options
    not __flocklimit_rest >/dev/null
end

function __flocklimit_subcommand
    set -l words (__flocklimit_rest | string split0)
    # An option that is not offered is no command.
    test -z "$words"; and string match -q -- '-*' (commandline -ct); and return
    __fish_complete_subcommand --commandline $words
end

complete -c flocklimit -x -a '(__flocklimit_subcommand)'

complete -c flocklimit -n __flocklimit_options -s N -l name -x -a '(__flocklimit_limiters)' -d 'The limiter'
complete -c flocklimit -n __flocklimit_options -s f -l file -r -F -d 'The limiter kept in a file'
complete -c flocklimit -n __flocklimit_options -l mode -x -a '0600 0660' -d 'Permissions of a new limiter file'
complete -c flocklimit -n __flocklimit_options -s n -s j -l limit -l jobs -x -a '1 2 4 8 16 50% 100%' -d 'At most so many units at once'
complete -c flocklimit -n __flocklimit_options -s w -l weight -x -d 'Units that the command takes'
complete -c flocklimit -n __flocklimit_options -l yield -x -d 'How many later takers may go first'
complete -c flocklimit -n __flocklimit_options -l and -x -a '(__flocklimit_limiters)' -d 'Hold this limiter as well'
complete -c flocklimit -n __flocklimit_options -s t -l timeout -x -d 'Give up waiting'
complete -c flocklimit -n __flocklimit_options -l nonblock -d 'Do not wait'
complete -c flocklimit -n __flocklimit_options -l not-seat -x -d 'Take none of these seats, as 0,3 or 0-3'
complete -c flocklimit -n __flocklimit_options -l max-queue -x -d 'Give up rather than wait behind so many others'
complete -c flocklimit -n __flocklimit_options -l store -x -d 'A store that many machines reach'
complete -c flocklimit -n __flocklimit_options -l ttl -x -a '5s 10s 30s 60s 5m' -d 'Dead after so much silence'
complete -c flocklimit -n __flocklimit_options -l grace -x -a '10s 30s 60s 5m' -d 'And its permit given on after so long'
complete -c flocklimit -n __flocklimit_options -l on-lost -x -a 'kill warn' -d 'What to do to a command that lost its permit'
complete -c flocklimit -n __flocklimit_options -l reclaim -x -a 'auto manual' -d 'Whether a dead one\'s permit is given on'
complete -c flocklimit -n __flocklimit_options -l local -x -a '1 2 4 8 16' -d 'And at most so many units on this machine'
complete -c flocklimit -n __flocklimit_options -s E -l conflict-exit-code -x -d 'Exit status when there was no permit'
complete -c flocklimit -n __flocklimit_options -s T -l run-timeout -x -d 'End the command when it has run so long'
complete -c flocklimit -n __flocklimit_options -s s -l signal -x -a 'TERM INT HUP QUIT KILL USR1 USR2 ALRM CONT STOP TSTP' -d 'With this signal'
complete -c flocklimit -n __flocklimit_options -s k -l kill-after -x -d 'And with KILL after so long'
complete -c flocklimit -n __flocklimit_options -l preserve-status -d 'Exit as the command did, also after that'
complete -c flocklimit -n __flocklimit_options -s c -l command -x -a '(__fish_complete_command)' -d 'Run a line with the shell'
complete -c flocklimit -n __flocklimit_options -s F -l no-fork -d 'Exec the command instead of waiting for it'
complete -c flocklimit -n __flocklimit_options -s o -l close -d 'Do not let the command inherit the lock descriptor'
complete -c flocklimit -n __flocklimit_options -l rate -x -a '1/s 10/s 30/m 60/m 100/h off' -d 'At most so many starts per time'
complete -c flocklimit -n __flocklimit_options -l stagger -x -a '100ms 1s 10s off' -d 'At least so long between two starts'
complete -c flocklimit -n __flocklimit_options -l ramp -x -a '1+1/1s 1+1/30s 1+1/1m off' -d 'Begin with few units, and grow'
complete -c flocklimit -n __flocklimit_options -l ramp-idle -x -a '100ms 1s 10s 1m 10m 1h 1d' -d 'Begin anew after nothing was held so long'
complete -c flocklimit -n __flocklimit_options -l when -x -d 'Start only while the machine has room, as in mem>4G'
complete -c flocklimit -n __flocklimit_options -l settle -x -a '0 1s 2s 5s 10s' -d 'Look again so long after a start'
complete -c flocklimit -n __flocklimit_options -l gate-patience -x -a '10s 1m 10m never' -d 'Start anyway when nothing has run so long'
complete -c flocklimit -n __flocklimit_options -l when-run -x -a '(__fish_complete_command)' -d 'Start only after this command succeeds'
complete -c flocklimit -n __flocklimit_options -l jobserver -a 'fifo pipe' -d 'Give the command a jobserver of permits'
complete -c flocklimit -n __flocklimit_options -l background -a stdin -d 'Return when the command runs'
complete -c flocklimit -n __flocklimit_options -l until-ready -d 'Give the permit back when the command says READY=1'
complete -c flocklimit -n __flocklimit_options -l nested -x -a 'join queue' -d 'Under a permit of this limiter'
complete -c flocklimit -n __flocklimit_options -l hold-for -x -a '(__fish_complete_pids)' -d 'Take the permit for a process'
complete -c flocklimit -n __flocklimit_options -l fd -x -a '3 4 5 6 7 8 9' -d 'Take the permit for an open descriptor'
complete -c flocklimit -n __flocklimit_options -s u -l unlock -d 'With --fd: give the permit back'
complete -c flocklimit -n __flocklimit_options -s v -l verbose -d 'Say how long it waited'
complete -c flocklimit -n __flocklimit_options -s q -l quiet -d 'No line about a wait, and none when there was no permit'
complete -c flocklimit -n __flocklimit_options -s h -l help -d 'Help'
complete -c flocklimit -n __flocklimit_options -s V -l version -d 'Version'
