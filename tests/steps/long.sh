# What only `tests/run --long` does, beside the tests whose names begin with `long_`.

# The steps, each on its own: `step` and `skip` come from tests/run.
long_steps() {
    step "fuzz targets" fuzz_targets_run
    step "the Dockerfile in a Debian root" dockerfile_steps
    step "newer servers" newer_servers
}

# Each fuzz target for half a minute, or for STEPCAST_TEST_FUZZ seconds. The crates are built anew for it, with the address
# sanitizer.
fuzz_targets_run() {
    local target seconds=${STEPCAST_TEST_FUZZ:-30} failed=0
    cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked --quiet || {
        echo "skipped: fuzz targets (cargo-fuzz is not there: cargo install cargo-fuzz --locked)"
        return 0
    }
    # the sanitizer is a switch of nightly compilers
    export RUSTC_BOOTSTRAP=1
    cargo fuzz build || { unset RUSTC_BOOTSTRAP; return 1; }
    for target in $(cargo fuzz list); do
        # 64 KiB: more than a batch of 1,000 users takes
        if cargo fuzz run "$target" -- "-max_total_time=$seconds" -max_len=65536 -timeout=10 -print_final_stats=1 >"target/fuzz-$target.log" 2>&1; then
            printf '%s: %s runs\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "target/fuzz-$target.log")"
        else
            tail -n 40 "target/fuzz-$target.log"
            echo "$target: FAILED"
            failed=1
        fi
    done
    unset RUSTC_BOOTSTRAP
    return "$failed"
}

# What the Dockerfile says is done in a Debian root, stage by stage, without a container engine.
dockerfile_steps() {
    can_make_roots "the Dockerfile in a Debian root" || return 0
    bash tests/steps/dockerfile.sh
}

# can_make_roots STEP: whether this machine can; else it says that the step is skipped, and why.
can_make_roots() {
    if [[ $(id -u) != 0 ]]; then
        echo "skipped: $1 (only root can make one)"
        return 1
    fi
    command -v debootstrap >/dev/null || {
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
    }
    command -v debootstrap >/dev/null || {
        echo "skipped: $1 (debootstrap is not there)"
        return 1
    }
}
