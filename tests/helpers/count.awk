# SPDX-License-Identifier: ISC
# count.awk - prints how many tests passed, failed and were skipped, by the log of a make check

# Where something failed, the summary is printed twice: the last one counts.
/^# TOTAL:/ { failed = 0 }
/^# PASS:/ { passed = $3 }
/^# SKIP:/ { skipped = $3 }
/^# (FAIL|XPASS|ERROR):/ { failed += $3 }
END { print passed + 0, failed + 0, skipped + 0 }
