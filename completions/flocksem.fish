# SPDX-License-Identifier: ISC
# flocksem(1) completion for fish.

# An id is the name of its limiter where that has no byte in %XX.  The directory is found as the
# program finds it.
function __flocksem_ids
    if test -n "$FLOCKLIMIT_STORE"
        flocklimitctl list 2>/dev/null | awk 'NR > 1 && $1 !~ /%/ { print $1 }'
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
    test -d "$dir"; and find $dir/ -maxdepth 1 -type f ! -name '*%*' -printf '%f\n' 2>/dev/null
end

# The words of the command that flocksem is to run, if the line has come that far.
function __flocksem_rest
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1]
    argparse -s id= semaphorename= semaphore-name= j/jobs= P/max-procs= bg fg wait st= \
        semaphoretimeout= semaphore-timeout= timeout= q/quote a/arg-file= nice= dry-run dryrun h/help \
        V/version semaphore u/ungroup line-buffer linebuffer lb k/keep-order r/no-run-if-empty \
        will-cite no-notice gnu plain env= -- $words 2>/dev/null
    or return 1
    test -n "$argv"; or return 1
    string match -qr '^-' -- $argv[1]; and return 1
    string join0 -- $argv
end

function __flocksem_options
    not __flocksem_rest >/dev/null
end

function __flocksem_subcommand
    set -l words (__flocksem_rest | string split0)
    # An option that is not offered is no command.
    test -z "$words"; and string match -q -- '-*' (commandline -ct); and return
    __fish_complete_subcommand --commandline $words
end

complete -c flocksem -x -a '(__flocksem_subcommand)'

complete -c flocksem -n __flocksem_options -l id -x -a '(__flocksem_ids)' -d 'The limiter'
complete -c flocksem -n __flocksem_options -s j -s P -l jobs -l max-procs -r -F -a '1 2 4 8 16 +0 -1 50% 100%' -d 'At most so many at once'
complete -c flocksem -n __flocksem_options -l bg -d 'Return when the command runs'
complete -c flocksem -n __flocksem_options -l fg -d 'Return when the command has ended'
complete -c flocksem -n __flocksem_options -l wait -d 'Wait until all commands have ended'
complete -c flocksem -n __flocksem_options -l st -x -a '1s 10s 1m 10m 1h -1s -10s -1m -10m -1h' -d 'Start above the limit after so long; with a minus, give up'
complete -c flocksem -n __flocksem_options -l timeout -x -a '1s 10s 1m 10m 1h 1d' -d 'End the command when it has run so long'
complete -c flocksem -n __flocksem_options -s q -l quote -d 'Pass the words to the command as they are'
complete -c flocksem -n __flocksem_options -s a -l arg-file -r -F -d 'The standard input of the command'
complete -c flocksem -n __flocksem_options -l nice -x -a '5 10 19' -d 'More niceness for the command'
complete -c flocksem -n __flocksem_options -l dry-run -d 'Print the line and run nothing'
complete -c flocksem -n __flocksem_options -s h -l help -d Help
complete -c flocksem -n __flocksem_options -s V -l version -d Version
