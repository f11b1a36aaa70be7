# Counts tests over all runs of cargo test.

passed=0 failed=0 skipped=0

# counted COMMAND...: runs cargo test, and adds what its `test result` lines say. A test that printed `skipped` has
# passed in cargo's eyes and is taken out there.
counted() {
    local log end good bad left out
    log=$(mktemp) || return 1
    "$@" 2>&1 | tee "$log"
    end=${PIPESTATUS[0]}
    read -r good bad left < <(awk '
        /^test result: / {
            for (i = 2; i <= NF; i++) {
                if ($i ~ /^passed/) good += $(i - 1)
                if ($i ~ /^failed/) bad += $(i - 1)
                if ($i ~ /^ignored/) left += $(i - 1)
            }
        }
        END { print good + 0, bad + 0, left + 0 }
    ' "$log")
    out=$(grep -c '^skipped: ' "$log")
    rm -f "$log"
    ((passed += good - out, failed += bad, skipped += left + out))
    if ((end == 0 && good + bad + left == 0)); then
        echo "there is no such test"
        end=1
    fi
    # what failed is counted already; a run that did not even build is not
    ((bad > 0)) && ((counted_failures += 1))
    return "$end"
}
counted_failures=0

# The last line, and the exit code.
close() {
    local uncounted=$((${#failed_steps[@]} - counted_failures))
    ((uncounted > 0)) && ((failed += uncounted))
    ((${#failed_steps[@]} > 0)) && printf '\nfailed: %s\n' "$(printf '%s; ' "${failed_steps[@]}" | sed 's/; $//')"
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    ((failed == 0))
}
