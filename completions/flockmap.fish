# SPDX-License-Identifier: ISC
# flockmap(1) completion for fish.

# --store and its URL, if the line has them.
function __flockmap_store
    set -l words (commandline -opc)
    set -l i (contains -i -- --store $words)
    and printf '%s\n' $words[$i..(math $i + 1)]
    string match -r -- '^--store=.*' $words
end

# The limiter directory, as the program finds it.
function __flockmap_limiters
    set -l store (__flockmap_store)
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

# The words of the command that flockmap is to run, if the line has come that far.
function __flockmap_rest
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1]
    argparse -s a/arg-file= 0/null d/delimiter= L/max-items= I/replace= N/name= f/file= mode= \
        and=+ n/limit= j/jobs= w/weight= weight-from= yield= not-seat= t/timeout= nonblock max-queue= when= settle= gate-patience= when-run= rate= stagger= ramp= \
        ramp-idle= E/conflict-exit-code= T/run-timeout= s/signal= k/kill-after= order= tag \
        'fail-fast=?' retries= joblog= resume resume-failed nested= dry-run q/quiet h/help \
        store= ttl= grace= on-lost= reclaim= local= V/version -- $words 2>/dev/null
    or return 1
    test -n "$argv"; or return 1
    string match -qr '^-' -- $argv[1]; and return 1
    string join0 -- $argv
end

function __flockmap_options
    not __flockmap_rest >/dev/null
end

function __flockmap_subcommand
    set -l words (__flockmap_rest | string split0)
    # An option that is not offered is no command.
    test -z "$words"; and string match -q -- '-*' (commandline -ct); and return
    __fish_complete_subcommand --commandline $words
end

complete -c flockmap -x -a '(__flockmap_subcommand)'

complete -c flockmap -n __flockmap_options -s a -l arg-file -r -F -d 'Items are lines of a file'
complete -c flockmap -n __flockmap_options -s 0 -l null -d 'Items end with a NUL'
complete -c flockmap -n __flockmap_options -s d -l delimiter -x -d 'Items end with a character'
complete -c flockmap -n __flockmap_options -s L -l max-items -x -d 'Items per command'
complete -c flockmap -n __flockmap_options -s I -l replace -x -d 'Instead of {}'
complete -c flockmap -n __flockmap_options -s N -l name -x -a '(__flockmap_limiters)' -d 'The limiter'
complete -c flockmap -n __flockmap_options -s f -l file -r -F -d 'The limiter kept in a file'
complete -c flockmap -n __flockmap_options -l mode -x -a '0600 0660' -d 'Permissions of a new limiter file'
complete -c flockmap -n __flockmap_options -s n -s j -l limit -l jobs -x -a '1 2 4 8 16 50% 100%' -d 'At most so many units at once'
complete -c flockmap -n __flockmap_options -s w -l weight -x -d 'Units that each command takes'
complete -c flockmap -n __flockmap_options -l weight-from -x -d 'What an item weighs'
complete -c flockmap -n __flockmap_options -l and -x -a '(__flockmap_limiters)' -d 'Each command holds this limiter as well'
complete -c flockmap -n __flockmap_options -l yield -x -d 'How many later takers may go first'
complete -c flockmap -n __flockmap_options -s t -l timeout -x -d 'Give up waiting'
complete -c flockmap -n __flockmap_options -l nonblock -d 'Do not wait'
complete -c flockmap -n __flockmap_options -l not-seat -x -d 'Take none of these seats, as 0,3 or 0-3'
complete -c flockmap -n __flockmap_options -l max-queue -x -d 'Give up rather than wait behind so many others'
complete -c flockmap -n __flockmap_options -l rate -x -a 'off 1/s 10/s 60/m' -d 'At most so many starts per time'
complete -c flockmap -n __flockmap_options -l when -x -d 'Start only while the machine has room, as in mem>4G'
complete -c flockmap -n __flockmap_options -l settle -x -a '0 1s 2s 5s 10s' -d 'Look again so long after a start'
complete -c flockmap -n __flockmap_options -l gate-patience -x -a '10s 1m 10m never' -d 'Start anyway when nothing has run so long'
complete -c flockmap -n __flockmap_options -l when-run -x -a '(__fish_complete_command)' -d 'Start only after this command succeeds'
complete -c flockmap -n __flockmap_options -l stagger -x -a 'off 100ms 1s' -d 'At least so long between two starts'
complete -c flockmap -n __flockmap_options -l ramp -x -a 'off 1+1/30s' -d 'Begin with few'
complete -c flockmap -n __flockmap_options -l ramp-idle -x -a '100ms 1s 10s 1m 10m 1h 1d' -d 'Anew after so long'
complete -c flockmap -n __flockmap_options -l store -x -d 'A store that many machines reach'
complete -c flockmap -n __flockmap_options -l ttl -x -a '5s 10s 30s 60s 5m' -d 'Dead after so much silence'
complete -c flockmap -n __flockmap_options -l grace -x -a '10s 30s 60s 5m' -d 'And its permit given on after so long'
complete -c flockmap -n __flockmap_options -l on-lost -x -a 'kill warn' -d 'What to do to a command that lost its permit'
complete -c flockmap -n __flockmap_options -l reclaim -x -a 'auto manual' -d 'Whether a dead one\'s permit is given on'
complete -c flockmap -n __flockmap_options -l local -x -a '1 2 4 8 16' -d 'And at most so many units on this machine'
complete -c flockmap -n __flockmap_options -s E -l conflict-exit-code -x -d 'Exit status when there was no permit'
complete -c flockmap -n __flockmap_options -s T -l run-timeout -x -d 'End a command when it has run so long'
complete -c flockmap -n __flockmap_options -s s -l signal -x -a 'TERM INT HUP QUIT KILL USR1 USR2 ALRM CONT STOP TSTP' -d 'With this signal'
complete -c flockmap -n __flockmap_options -s k -l kill-after -x -d 'And with KILL after so long'
complete -c flockmap -n __flockmap_options -l order -x -a 'input done none' -d 'When to print what commands print'
complete -c flockmap -n __flockmap_options -l tag -d 'Begin each line with the item'
complete -c flockmap -n __flockmap_options -l fail-fast -a now -d 'Start no more after a failure'
complete -c flockmap -n __flockmap_options -l retries -x -d 'Run an item that failed again'
complete -c flockmap -n __flockmap_options -l joblog -r -F -d 'Add a line about each command'
complete -c flockmap -n __flockmap_options -l resume -d 'Skip what the log has, and what failed'
complete -c flockmap -n __flockmap_options -l resume-failed -d 'Skip what succeeded according to the log'
complete -c flockmap -n __flockmap_options -l nested -x -a 'join queue' -d 'Under a permit of this limiter'
complete -c flockmap -n __flockmap_options -l dry-run -d 'Print the commands'
complete -c flockmap -n __flockmap_options -s q -l quiet -d 'No lines on progress, waits and failures'
complete -c flockmap -n __flockmap_options -s h -l help -d Help
complete -c flockmap -n __flockmap_options -s V -l version -d Version
