#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Takers of a limiter, against a store in memory that fails as it is told.  sim/ lets more go wrong, at any
# time; here is what its laws do not judge: words, codes, numbers of calls, and single interleavings.
# shellcheck disable=SC2154 # what run sets; pids

load ../helpers/lib.bash
load memory/memory.bash
load fleet.bash

@test "who comes first is granted first, one after the other" {
	serve
	takers t 3 2
	makes t a b c
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED ticket=4'
	does t 'release a' 'expect b GRANTED' 'release b' 'expect c GRANTED' 'release c'
	ends t
	[ "$(tells t GRANTED QUEUED)" = 'a GRANTED b QUEUED c QUEUED b GRANTED c GRANTED' ]
	told t "b GRANTED ticket=3 weight=1 limit=1 seat=0 .*key=/x/lim/cfg//h/$(self b)"
	clean
}

@test "a heavy one at the head is not overtaken" {
	serve
	takers t 3 2
	makes t a b c d
	does t 'enter a n=4 w=3' 'expect a GRANTED' 'enter b n=4 w=2' 'expect b QUEUED' \
		'enter c n=4 w=1' 'expect c QUEUED' 'enter d n=4 nowait' 'expect d REFUSED'
	told t 'd REFUSED .*code=-11'
	untold t 'c GRANTED'
	does t 'release a' 'expect c GRANTED'
	told t 'b GRANTED .* seat=0'
	told t 'c GRANTED .* seat=1'
	does t 'release b' 'release c'
	ends t
	[ "$(tells t GRANTED)" = 'a GRANTED b GRANTED c GRANTED' ]
	clean
}

@test "each limit is a promise to who declared it" {
	serve
	takers t 3 2
	makes t a b c d e f
	does t 'enter a n=2' 'expect a GRANTED' 'enter b n=9 w=2 nowait' 'expect b REFUSED'
	does t 'enter c n=1 nowait' 'expect c REFUSED' 'enter d w=3' 'expect d REFUSED'
	told t 'd REFUSED .*code=-4110'
	does t 'enter e' 'expect e GRANTED' 'enter f n=5 queue=0' 'expect f REFUSED'
	told t 'e GRANTED .* limit=2 seat=1'
	told t 'f REFUSED .*code=-4112'
	does t 'release a' 'release e'
	ends t
	clean
}

@test "takers of two limiters share a connection, and closing one limiter ends only its own calls and watches" {
	serve
	takers t 3 2
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'limiter other'
	makes t c d e
	does t 'enter c n=1' 'expect c GRANTED' 'enter d n=1' 'expect d QUEUED'
	told t 'd QUEUED'
	# Each limiter has a release under way when one of them is closed.
	order hold 1 delete:/x/lim/cfg//h/
	order hold 1 delete:/x/other/cfg//h/
	does t 'release a' 'release c'
	logged "delete:/x/lim/cfg//h/$(self a) .*!hold"
	logged "delete:/x/other/cfg//h/$(self c) .*!hold"
	does t 'close lim' 'enter e n=1'
	told t 'e QUEUED'
	order release
	told t 'c RELEASED'
	told t 'd GRANTED'
	does t 'wait d RENEWED' 'release d' 'expect e GRANTED' 'release e'
	ends t
	untold t 'a RELEASED'
	untold t 'b GRANTED'
	[ "$(log_count ' connection$')" = 1 ]
	[ "$(keys | grep -c '^/x/other/')" = 1 ]
}

@test "a lease that ends wrongly costs neither the permit nor a second holder" {
	serve
	takers held 3 2
	takers t 3 2
	makes held a
	makes t b
	does held 'enter a n=1' 'expect a GRANTED'
	told held 'a GRANTED'
	does t 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	expires held
	told held 'a NOTE .*kept'
	told held 'a RENEWED ticket=2'
	eventually lacks_key "$(mark held)"
	is_shown held
	sleep 2.5
	does held 'release a'
	does t 'expect b GRANTED' 'release b'
	ends held
	ends t
	untold held 'a LOST'
	[ "$(tells held GRANTED RELEASED)" = 'a GRANTED a RELEASED' ]
	clean
}

@test "a waiter whose lease ends wrongly keeps its place" {
	serve
	takers held 3 2
	takers t 3 2
	takers u 3 2
	makes held a
	makes t b
	makes u c
	does held 'enter a n=1' 'expect a GRANTED'
	told held 'a GRANTED'
	does t 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	does u 'enter c n=1' 'expect c QUEUED'
	told u 'c QUEUED'
	expires t
	expires held
	eventually is_shown t
	sleep 2.5
	does held 'release a'
	told t 'b GRANTED ticket=3'
	untold u 'c GRANTED'
	does t 'release b'
	does u 'expect c GRANTED' 'release c'
	ends held
	ends t
	ends u
	[ "$(tells t QUEUED NOTE GRANTED)" = 'b QUEUED b GRANTED' ]
	clean
}

@test "a place outlasts the grace of its life if nobody takes it back, and so does the order" {
	serve
	takers held 60 60
	takers t 3 1
	makes held a
	makes t b c
	does held 'enter a n=1' 'expect a GRANTED'
	told held 'a GRANTED'
	does t 'enter b n=1' 'expect b QUEUED' 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED'
	kill -STOP "${pids[t]}"
	expires t
	sleep 4
	kill -CONT "${pids[t]}"
	eventually is_shown t
	does held 'release a'
	does t 'expect b GRANTED' 'release b' 'expect c GRANTED' 'release c'
	ends held
	ends t
	[ "$(tells t QUEUED NOTE GRANTED)" = 'b QUEUED c QUEUED b GRANTED c GRANTED' ]
	clean
}

@test "a place that others took back is taken anew, at the end, and that is said" {
	serve
	takers held 60 60
	takers t 3 1
	takers u 3 1
	makes held a
	makes t b
	makes u c
	does held 'enter a n=1' 'expect a GRANTED'
	told held 'a GRANTED'
	does t 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	does u 'enter c n=1' 'expect c QUEUED'
	told u 'c QUEUED'
	kill -STOP "${pids[t]}"
	expires t
	eventually lacks_key "/x/lim/cfg//w/$(self b)"
	(($(when "- /x/lim/cfg//w/$(self b)") - $(when "[+] $(mark t)") >= 1000))
	kill -CONT "${pids[t]}"
	told t 'b NOTE .*place'
	told t 'b QUEUED ticket=([5-9]|[1-9][0-9])'
	does held 'release a'
	does u 'expect c GRANTED' 'release c'
	does t 'expect b GRANTED' 'release b'
	ends held
	ends u
	ends t
	clean
}

@test "a dead waiter that is granted keeps its units for the ttl and the grace, and no longer" {
	local died
	serve
	takers held 60 60
	takers dead 3 2
	takers t 60 60
	makes held a
	makes dead b
	makes t c
	does held 'enter a n=1' 'expect a GRANTED'
	told held 'a GRANTED'
	does dead 'enter b n=1' 'expect b QUEUED'
	told dead 'b QUEUED'
	does t 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED'
	kill -KILL "${pids[dead]}"
	ended dead
	does held 'release a'
	ends held
	has_key "/x/lim/cfg//h/$(self b)"
	died=$(when "[+] /x/lim/cfg//h/$(self b)")
	told t 'c GRANTED'
	took=$(($(when "[+] /x/lim/cfg//h/$(self c)") - died))
	echo "$took ms"
	# Its lease was up to 1 s old; and a busy machine has half a minute.
	((took >= 4000 && took < 30000))
	does t 'release c'
	ends t
	clean
}

@test "one who is not dead keeps what is marked, and is lost when it was given on" {
	serve
	takers held 30 2
	takers t 3 2
	makes held a
	makes t b
	does held 'enter a n=1' 'expect a GRANTED'
	told held 'a GRANTED'
	does t 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	kill -STOP "${pids[held]}"
	expires held
	eventually has_key "$(mark held)"
	kill -CONT "${pids[held]}"
	told held 'a NOTE .*kept'
	eventually lacks_key "$(mark held)"
	kill -STOP "${pids[held]}"
	expires held
	told t 'b GRANTED'
	kill -CONT "${pids[held]}"
	told held 'a LOST .*passed to another'
	does t 'release b'
	ends t
	ends held
	clean
}

@test "a permit that must not be given on is not" {
	serve
	takers held 3 1 manual
	makes held a
	does held 'enter a n=1' 'expect a GRANTED'
	told held 'a GRANTED'
	dies held
	takers t 3 1
	makes t b c
	does t 'enter b n=1' 'expect b QUEUED' 'sleep 2500' 'enter c n=1 nowait' 'expect c REFUSED'
	told t 'c REFUSED'
	untold t 'b GRANTED'
	lacks_key "$(mark held)"
	has_key "/x/lim/cfg//h/$(self a)"
	gone "/x/lim/cfg//h/$(self a)" "/x/lim/cfg//p/$(self a)"
	told t 'b GRANTED'
	does t 'release b'
	ends t
	clean
}

# grace_over LABEL: the lease of its t/ has come to its end.
grace_over() {
	logged "- /x/lim/cfg//t/${life_of[$1]}"
}

@test "who never waits brings permits back as well" {
	serve
	takers dead 3 1
	makes dead a
	does dead 'enter a n=1' 'expect a GRANTED'
	told dead 'a GRANTED'
	dies dead
	takers t 3 1
	makes t b c d
	does t 'enter b n=1 nowait' 'expect b REFUSED' 'enter c n=1 nowait' 'expect c REFUSED'
	told t 'c REFUSED .*code=-11'
	grace_over dead
	does t 'enter d n=1 nowait' 'expect d GRANTED' 'release d'
	ends t
	[ "$(tells t GRANTED)" = 'd GRANTED' ]
	clean
}

@test "the dead at the end of the line do not fill it, though a living one waits before them" {
	serve
	takers t 3 1
	makes t a b c d
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	takers dead 3 1
	makes dead e
	does dead 'enter e n=1' 'expect e QUEUED'
	told dead 'e QUEUED'
	dies dead
	does t 'enter c n=1 queue=2' 'expect c REFUSED'
	told t 'c REFUSED .*code=-4112'
	grace_over dead
	does t 'enter d n=1 queue=2' 'expect d QUEUED' 'release a' 'expect b GRANTED' 'release b' \
		'expect d GRANTED' 'release d'
	ends t
	[ "$(tells t GRANTED)" = 'a GRANTED b GRANTED d GRANTED' ]
	clean
}

@test "a waiter takes back all the places of the dead before it, though a living one is before them" {
	local label
	serve
	takers t 3 1
	makes t a b c
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	for label in d e; do
		takers "$label" 3 1
		makes "$label" "$label"
		does "$label" "enter $label n=1" "expect $label QUEUED"
		told "$label" "$label QUEUED"
	done
	does t 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED'
	dies d
	dies e
	eventually lacks_key "/x/lim/cfg//w/$(self d)"
	eventually lacks_key "/x/lim/cfg//w/$(self e)"
	does t 'release a' 'expect b GRANTED' 'release b' 'expect c GRANTED' 'release c'
	ends t
	clean
}

@test "a dead waiter is not granted a permit that only an operator could take back" {
	serve
	takers t 3 1 manual
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	takers dead 3 1 manual
	makes dead d
	does dead 'enter d n=1' 'expect d QUEUED'
	told dead 'd QUEUED'
	does t 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	dies dead
	does t 'release a' 'expect b GRANTED' 'release b'
	ends t
	clean
}

@test "a waiter that is refused for how the limiter is steered leaves nothing behind" {
	serve
	takers t 30 20
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	steer '{"v":9}'
	told t 'b REFUSED .*code=-4[0-9]+.*newer'
	lacks_key "/x/lim/cfg//w/$(self b)"
	lacks_key "/x/lim/cfg//p/$(self b)"
	steer '{"v":3,"declared":1}'
	does t 'release a'
	ends t
	clean
}

# has_renewed LABEL LETTER N: it was told so as often, or more.
has_renewed() {
	[ "$(grep -cE "^[0-9.]+ $2 RENEWED" "$T/$1.out")" -ge "$3" ]
}

@test "the life that a killed keeper put late does not cost its heir the permit" {
	serve
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	order hold 1 "put:$(life t)"
	expires t
	logged "put:$(life t).* !hold"
	kill -KILL "${pids[t]}"
	ended t
	heirs u t 3 2
	makes u a
	does u 'adopt a held n=1' 'expect a GRANTED'
	told u 'a GRANTED'
	order release
	logged ' done$'
	eventually has_renewed u a 5
	untold u 'a LOST'
	# It is on a lease that the heir renews.
	eventually is_renewed u
	does u 'release a'
	ends u
	clean
}

# is_renewed LABEL: the last lease that was renewed is that of its life.
is_renewed() {
	[ "$(grep -o ' renew .*' store.log | tail -n 1)" = " renew $(lease "$1")" ]
}

# Their tickets leave the same remainder: see run.h.
@test "dead takers that are remembered in one place are taken back together" {
	serve
	raw put /x/lim/cfg//h/00000000000000aa '3 1 2 2 0 7 3 2 0 0 00000000000000ff' 0 \
		put /x/lim/cfg//h/00000000000000ab '3 1 2 2 1 516 3 2 0 0 00000000000000ff' 0
	takers t 3 2
	makes t a
	does t 'enter a w=2 n=2' 'expect a GRANTED'
	told t 'a GRANTED'
	does t 'release a'
	ends t
	clean
}

@test "a killed keeper's claim that comes late is not done once its heir has looked" {
	local claim
	serve
	takers held 3 2
	makes held z
	does held 'enter z n=9' 'expect z GRANTED'
	told held 'z GRANTED'
	# The first of its life, and one beside a permit that it has.
	for claim in first second; do
		takers t 3 2
		makes t a b
		[ "$claim" = first ] || does t 'enter b n=9' 'expect b GRANTED'
		order hold 1 "put:/x/lim/cfg//h/$(self a)"
		does t 'enter a n=9'
		logged "put:/x/lim/cfg//h/$(self a).* !hold"
		kill -KILL "${pids[t]}"
		ended t
		heirs u t 3 2
		makes u a b
		does u 'adopt a n=9' 'expect a REFUSED'
		told u 'a REFUSED .*code=-4116'
		[ "$claim" = first ] || does u 'adopt b held n=9' 'expect b GRANTED'
		order release
		logged ' done$'
		lacks_key "/x/lim/cfg//h/$(self a)"
		lacks_key "/x/lim/cfg//w/$(self a)"
		[ "$claim" = first ] || does u 'release b'
		ends u
		order clear
	done
	does held 'release z'
	ends held
	clean
}

# claims_and_is_killed: z holds; the server holds back the claim of t's taker a, and t is killed.
claims_and_is_killed() {
	serve
	takers held 3 2
	makes held z
	does held 'enter z n=9' 'expect z GRANTED'
	told held 'z GRANTED'
	takers t 3 2
	makes t a
	order hold 1 "put:/x/lim/cfg//h/$(self a)"
	does t 'enter a n=9'
	logged "put:/x/lim/cfg//h/$(self a).* !hold"
	kill -KILL "${pids[t]}"
	ended t
}

# is_not_done_late LABEL: its taker a, which it adopted, was refused; then the claim comes, and is not done.
is_not_done_late() {
	told "$1" 'a REFUSED .*code=-4116'
	order release
	logged ' done$'
	lacks_key "/x/lim/cfg//h/$(self a)"
}

@test "the same, though a new taker comes to the heir first" {
	claims_and_is_killed
	heirs u t 3 2
	makes u a b
	does u 'enter b n=9' 'expect b GRANTED' 'adopt a n=9' 'expect a REFUSED'
	is_not_done_late u
	does u 'release b'
	does held 'release z'
	ends u
	ends held
	clean
}

@test "the same, though a new taker came to the heir and left before it had done so" {
	claims_and_is_killed
	order hold 1 lease
	heirs u t 3 2
	makes u a b
	does u 'enter b n=9'
	logged ' lease .*!hold'
	does u 'leave b' 'expect b LEFT' 'adopt a n=9' 'expect a REFUSED'
	is_not_done_late u
	does held 'release z'
	ends u
	ends held
	clean
}

@test "an heir goes on with more permits than a transaction can ask for" {
	local i self entered=() adopted=()
	serve
	takers t 20 20
	for ((i = 0; i < 200; i++)); do
		printf -v self %016x "$((i + 1))"
		entered+=("new p$i $self" "enter p$i n=200")
		adopted+=("new p$i $self" "adopt p$i held n=200")
	done
	does t "${entered[@]}" 'expect p199 GRANTED'
	eventually is_granted 200 t
	kill -KILL "${pids[t]}"
	ended t
	heirs u t 20 20
	does u "${adopted[@]}"
	eventually is_granted 200 u
	for ((i = 0; i < 200; i++)); do
		does u "release p$i"
	done
	ends u
	clean
}

# is_granted N LABEL: so many of its takers were told so.
is_granted() {
	[ "$(grep -c ' GRANTED ' "$T/$2.out")" = "$1" ]
}

# steer JSON: how the limiter is steered.
steer() {
	raw put /x/lim/cfg "$1" 0
}

@test "a closed limiter sends waiters away, and newcomers" {
	serve
	takers t 3 2
	makes t a b c d
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED'
	steer '{"v":3,"declared":1,"closed":true}'
	told t 'b REFUSED .*code=-4111'
	told t 'c REFUSED .*code=-4111'
	does t 'enter d n=1' 'expect d REFUSED' 'release a'
	ends t
	told t 'd REFUSED .*code=-4111'
	clean
}

@test "a paused one starts nothing; an override is looked at at once" {
	serve
	steer '{"v":3,"declared":1,"paused":true}'
	takers t 3 2
	makes t a b c
	does t 'enter a n=1' 'expect a QUEUED' 'enter b n=2' 'expect b QUEUED' 'enter c n=2 w=2' 'expect c QUEUED'
	told t 'c QUEUED'
	untold t 'a GRANTED'
	steer '{"v":3,"declared":1}'
	told t 'a GRANTED'
	untold t 'b GRANTED'
	steer '{"v":3,"declared":1,"override":2}'
	told t 'b GRANTED .* limit=2'
	steer '{"v":3,"declared":1,"override":1}'
	does t 'release a' 'release b' 'expect c GRANTED' 'release c'
	ends t
	told t 'c GRANTED .* weight=2 limit=1'
	clean
}

@test "an evicted waiter is told by whom" {
	serve
	takers t 3 2
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	raw delete "/x/lim/cfg//w/$(self b)" delete "/x/lim/cfg//p/$(self b)" \
		put "/x/lim/cfg//e/$(self b)" '{"v":1,"pid":77,"uid":5,"host":"desk"}' "$(lease t)"
	told t 'b REFUSED .*code=-4114 by=77 host=desk'
	does t 'release a'
	ends t
	clean
}

@test "a permit that an operator took back is lost at once" {
	serve
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	raw delete "/x/lim/cfg//h/$(self a)" delete "/x/lim/cfg//p/$(self a)" \
		put "/x/lim/cfg//e/$(self a)" '{"v":1,"pid":77,"uid":5,"host":"desk"}' "$(lease t)"
	told t "a LOST .*by=77 host=desk .*operator .*user $(id -nu 5 2>/dev/null || echo 5), pid 77 on desk"
	ends t
	clean
}

# gone KEY...: deleted in one transaction, as by hand.
gone() {
	local key deeds=()
	for key; do
		deeds+=(delete "$key")
	done
	raw "${deeds[@]}"
}

@test "a permit whose record was deleted is lost for that, and not for silence" {
	serve
	takers t 30 60
	makes t a b
	does t 'enter a n=2' 'expect a GRANTED' 'enter b n=2' 'expect b GRANTED'
	told t 'b GRANTED'
	gone "/x/lim/cfg//h/$(self a)"
	told t 'a LOST .*record is gone from the store'
	gone "/x/lim/cfg//h/$(self b)" "$(life_key t)"
	told t 'b LOST .*record is gone from the store'
	untold t '. LOST .*heard nothing'
	ends t
	clean
}

@test "a permit that was given on while its keeper was stopped is lost for silence, whatever is heard first" {
	serve
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	kill -STOP "${pids[t]}"
	eventually is_state T "${pids[t]}"
	sleep 2.2
	# What it is told of first is that its lease is gone: then it asks for another.
	gone "$(life_key t)"
	order hold all watch
	gone "/x/lim/cfg//h/$(self a)"
	kill -CONT "${pids[t]}"
	told t 'a LOST .*heard nothing for ([2-9]|[1-9][0-9]+)[.]'
	ends t
}

@test "a permit that an older backup does not have is lost for that" {
	serve
	takers t 9 7
	makes t a b
	does t 'enter b n=1' 'expect b GRANTED' 'release b' 'expect b RELEASED' 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	kill "${pids[store]}"
	ended store
	serve "${STORE#memory://}"
	told t 'a LOST .*older backup'
	# The second store has the lines open, too: their end does not come.
	does t quit
	ended t
	[ "$status" = 0 ]
}

@test "a lease that an operator revoked is told of, and the permit is kept on another" {
	serve
	takers t 9 7
	makes t a
	does t 'enter a n=1' 'expect a GRANTED'
	told t 'a GRANTED'
	raw end "$(lease t)"
	told t 'a NOTE .*lease was revoked.*kept'
	does t 'release a'
	ends t
	clean
}

@test "another keeper goes on with what there is" {
	serve
	takers t 3 2
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	kill -KILL "${pids[t]}"
	ended t
	heirs u t 3 2
	makes u a b c d
	does u 'adopt a held n=1' 'adopt b n=1' 'adopt c n=1' 'adopt d held n=1'
	told u 'a GRANTED ticket=2'
	told u 'b QUEUED ticket=3'
	told u 'c REFUSED .*code=-4116'
	told u 'd LOST .*while no keeper renewed it'
	does u 'release a' 'expect b GRANTED' 'release b'
	ends u
	clean
}

@test "an heir's waiters read what is right before them, and not all of the line" {
	local n looks
	serve
	takers h 60 7
	makes h z
	does h 'enter z n=1' 'expect z GRANTED'
	told h 'z GRANTED'
	takers t 60 7
	makes t a b c d e f g
	for n in a b c d e f g; do
		does t "enter $n n=1" "expect $n QUEUED"
	done
	told t 'g QUEUED'
	kill -KILL "${pids[t]}"
	ended t
	heirs u t 60 7
	makes u a b c d e f g
	does u 'adopt a n=1' 'adopt b n=1' 'adopt c n=1' 'adopt d n=1' 'adopt e n=1' 'adopt f n=1' 'adopt g n=1'
	for n in b c d e f g; do
		logged " txn if:/x/lim/cfg//w/$(self "$n") "
	done
	# The first looks, and once more when it watches.
	looks=$(log_count ' txn get:/x/lim/cfg[^ ]* .*get:/x/lim/cfg//s/')
	echo "$looks looks at all"
	((looks <= 2))
	does h 'release z'
	for n in a b c d e f g; do
		does u "expect $n GRANTED" "release $n"
	done
	ends u
	ends h
	clean
}

@test "what was compacted away is looked up" {
	serve
	takers t 3 2
	makes t a b c
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED' 'enter c n=1' 'expect c QUEUED'
	told t 'c QUEUED'
	order cut
	order compact
	does t 'release a' 'expect b GRANTED' 'release b' 'expect c GRANTED'
	told t 'c GRANTED'
	order cut
	order compact
	does t 'wait c RENEWED' 'release c'
	ends t
	[ "$(tells t GRANTED)" = 'a GRANTED b GRANTED c GRANTED' ]
	clean
}

@test "while the store is away nothing is lost, and it is said" {
	serve
	takers t 9 7
	makes t a b
	does t 'enter a n=1' 'expect a GRANTED' 'enter b n=1' 'expect b QUEUED'
	told t 'b QUEUED'
	kill -STOP "${pids[store]}"
	does t 'release a'
	told t 'a AWAY'
	kill -CONT "${pids[store]}"
	told t 'a RELEASED'
	does t 'expect b GRANTED' 'release b'
	ends t
	clean
}

@test "who has no rights is told so, and what makes no sense where" {
	serve
	order deny all put:/x/lim/cfg//h/
	takers t 3 2
	makes t a
	does t 'enter a n=1' 'expect a REFUSED'
	ends t
	told t 'a REFUSED .*code=-4352 .*permission denied'
	order clear
	steer '{"v":99}'
	takers u 3 2
	makes u a
	does u 'enter a n=1' 'expect a REFUSED'
	ends u
	told u 'a REFUSED .*code=-4352 .*/x/lim/cfg'
}

@test "who waits costs nothing, and a grant four messages and two commits at most" {
	local n calls commits
	serve
	for n in $(seq 0 20); do
		takers "t$n" 60 2
		does "t$n" "new t$n" "enter t$n n=1"
		told "t$n" "t$n $([ "$n" = 0 ] && echo GRANTED || echo QUEUED)"
		[ "$n" = 0 ] || [ "$n" = 20 ] || does "t$n" "expect t$n GRANTED" "release t$n"
	done
	# The first of them looks by itself once, and watches from then on.
	logged ' watch .*of:/x/lim/cfg\.\.'
	sleep 0.5
	counts
	sleep 3
	counts
	((calls == 0))
	does t0 'release t0'
	for n in $(seq 0 19); do
		ends "t$n"
	done
	told t20 't20 GRANTED'
	counts
	echo "$calls calls and $commits commits for 20 grants"
	((calls <= 20 * 4 && commits <= 20 * 2))
	does t20 'release t20'
	ends t20
	clean
}

# counts: calls and commits since it counted last.
counts() {
	local now
	now=$(log_count ' (txn|lease|renew|end|watch) ')
	calls=$((now - ${calls_then:-0}))
	calls_then=$now
	now=$(awk '$3 ~ /^[+-]$/ { print $2 }' store.log | uniq | wc -l)
	commits=$((now - ${commits_then:-0}))
	commits_then=$now
}

@test "a keeper has eight calls at once under way for takers without a permit, and the others queue" {
	local letter
	serve
	takers t 600 2
	makes t a b c d e f g h i j k l m
	does t 'enter a n=12 w=12' 'expect a GRANTED'
	told t 'a GRANTED'
	order hold all put:/x/lim/cfg//w/
	for letter in b c d e f g h i j k l m; do
		does t "enter $letter n=12"
	done
	eventually holds_back 8
	# What frees a permit does not queue; and a ninth would have been sent before it.
	does t 'release a'
	told t 'a RELEASED'
	holds_back 8
	order clear
	order release
	for letter in b c d e f g h i j k l m; do
		does t "expect $letter GRANTED" "release $letter"
	done
	ends t
	[ "$(tells t GRANTED | wc -w)" = 26 ]
	clean
}

# holds_back N: the store has N calls that it does not answer.
holds_back() { [ "$(log_count '!hold')" = "$1" ]; }

@test "who needs not wait asks for three transactions from its look to its end" {
	serve
	takers t 60 2
	makes t a
	does t 'enter a n=1' 'expect a GRANTED' 'release a'
	ends t
	[ "$(log_count ' txn ')" = 3 ]
	clean
}

@test "one release grants all that fit, in one transaction" {
	serve
	takers held 3 2
	makes held a
	does held 'enter a n=4 w=4' 'expect a GRANTED'
	told held 'a GRANTED'
	takers t 3 2
	makes t b c d e f
	does t 'enter b n=4' 'expect b QUEUED' 'enter c n=4 w=2' 'expect c QUEUED' 'enter d n=4' \
		'expect d QUEUED' 'enter e n=4' 'expect e QUEUED' 'enter f n=4' 'expect f QUEUED'
	told t 'f QUEUED'
	does held 'release a'
	does t 'expect b GRANTED' 'expect c GRANTED' 'expect d GRANTED'
	told t 'd GRANTED .* seat=2'
	ends held
	untold t '[ef] GRANTED'
	grep -q "put:/x/lim/cfg//h/$(self b) .*put:/x/lim/cfg//h/$(self c) .*put:/x/lim/cfg//h/$(self d) " store.log
	[ "$(awk '$3 == "+" && $4 ~ "/h/.*[234]$" { print $2 }' store.log | uniq | wc -l)" = 1 ]
	does t 'release c' 'expect e GRANTED' 'expect f GRANTED' 'release b' 'release d' 'release e' 'release f'
	ends t
	[ "$(tells t GRANTED)" = 'b GRANTED c GRANTED d GRANTED e GRANTED f GRANTED' ]
	clean
}

@test "what two made room for and were killed before they could grant it, the first in the line finds" {
	local label
	serve
	for label in a b; do
		takers "$label" 60 60
		makes "$label" "$label"
		does "$label" "enter $label n=2" "expect $label GRANTED"
		told "$label" "$label GRANTED"
	done
	takers t 60 60
	makes t c
	does t 'enter c n=2 w=2' 'expect c QUEUED'
	told t 'c QUEUED'
	# Each sees that the other holds; and nobody hears that both have left.
	for label in a b; do
		order hold 2 "delete:/x/lim/cfg//h/$(self "$label")"
	done
	for label in a b; do
		does "$label" "release $label"
		logged "delete:/x/lim/cfg//h/$(self "$label") .*!hold"
		kill -KILL "${pids[$label]}"
		ended "$label"
	done
	order release
	told t 'c GRANTED'
	# Not by its safety net, nor by their leases.
	(($(when "[+] /x/lim/cfg//h/$(self c)") - $(when "- /x/lim/cfg//h/$(self b)") < 20000))
	does t 'release c'
	ends t
	clean
}

@test "--jobserver asks no more than happens" {
	serve
	printf 'all: a b c\na b c:\n\t@sleep 0.7\n' >Makefile
	run -0 timeout 300 "$FLOCKLIMIT" --store "$STORE/x" -N lim -n 3 --jobserver make -s
	[ "$(log_count ' txn ')" -lt 60 ]
	# Nor when what happens can't be followed.
	order deny all watch
	run -0 timeout 300 "$FLOCKLIMIT" --store "$STORE/x" -N lim -n 3 --jobserver make -s
	[ "$(log_count ' txn ')" -lt 120 ]
}
