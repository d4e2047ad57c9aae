# SPDX-License-Identifier: ISC
# verdict.awk - what the log of a machine says: each proof, each failure, each skipped test with its reason;
# and in the last line how many.  Fails if a test failed, a proof did not end, or the machine did not.

{ sub(/\r$/, "") }
# The kernel may have printed half a line before.
{ sub(/^.*@machine /, "@machine ") }
$1 == "@machine" { kernel = $3 }
$1 == "@begin" { proof = substr($0, 8); n = bad = left = plan = 0; plan_seen = ""; next }
$1 == "@done" { done = 1 }
proof == "" { next }
/^1\.\.[0-9]+/ {
	plan_seen = 1
	plan = substr($1, 4) + 0
	if (/# *SKIP/) {
		skipped++
		left++
		print "skipped: " proof ": " reason($0)
	}
}
/^ok / {
	n++
	if (/# *SKIP/) {
		skipped++
		left++
		print "skipped: " proof ": " reason($0)
	} else {
		passed++
	}
}
/^not ok / {
	n++
	bad++
	print "failed: " proof ": " $0
}
/^# / && bad { print $0 }
/^Bail out!/ {
	bad++
	print "failed: " proof ": " $0
}
$1 == "@end" {
	if (!bad && ($3 != 0 || !plan_seen || plan != n && plan > 0)) {
		bad++
		print "failed: " proof ": status " $3 ", " n " of " plan " tests"
	}
	printf "%-34s %4d s  %s\n", proof, $4, bad ? "FAILED" : left ? "passed, " left " skipped" : "passed"
	failed += bad
	seconds += $4
	proof = ""
}
function reason(line) {
	sub(/.*# *SKIP */, "", line)
	return line
}
END {
	if (proof != "" || !done) {
		failed++
		print "failed: the machine did not end" (proof != "" ? ", in " proof : "")
	}
	printf "%s, Linux %s, %s: %d passed, %d failed, %d skipped, %d s\n", machine, kernel, how, passed,
	    failed, skipped, seconds
	exit failed > 0
}
