# Finds what the checks need, or installs it where that can be done, or says what to install.

needs() {
    local missing=0
    command -v cargo >/dev/null || PATH="$HOME/.cargo/bin:$PATH"
    if ! command -v cargo >/dev/null; then
        echo "cargo is not there: install Rust from https://rustup.rs (with rustfmt and clippy)"
        return 1
    fi
    component rustfmt cargo fmt --version || missing=1
    component clippy cargo clippy --version || missing=1
    new_enough || missing=1
    c_compiler || missing=1
    # the mode is told by tests/run
    [[ ${mode:-all} == quick ]] || servers || missing=1
    ((missing == 0)) || return 1
    cargo --version
    cargo fetch --locked --quiet --target "$(rustc -vV | sed -n 's/^host: //p')" || { echo "the dependencies of Cargo.lock cannot be had"; return 1; }
}

# component NAME COMMAND...: the command works, or the component is added so that it does
component() {
    local name=$1
    shift
    "$@" >/dev/null 2>&1 && return
    command -v rustup >/dev/null && rustup component add "$name" && "$@" >/dev/null 2>&1 && return
    echo "$name is not there: rustup component add $name"
    return 1
}

new_enough() {
    local wanted have
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    have=$(rustc --version | cut -d' ' -f2)
    [[ $(printf '%s\n%s\n' "$wanted" "${have%%-*}" | sort -V | head -n1) == "$wanted" ]] && return
    echo "Rust $have is too old, $wanted is wanted: rustup update stable"
    return 1
}

c_compiler() {
    local cc
    for cc in "${CC:-cc}" gcc clang; do
        command -v "$cc" >/dev/null && return
    done
    echo "no C compiler is there"
    installed gcc libc6-dev && return
    echo "install gcc and the C library's headers (Debian: apt-get install gcc libc6-dev)"
    return 1
}

# The servers that the tests start, and what speaks to them.
servers() {
    local missing=()
    command -v redis-server >/dev/null || missing+=(redis-server)
    command -v redis-cli >/dev/null || missing+=(redis-tools)
    command -v epmd >/dev/null && [[ -n $(rabbitmq_program) ]] || missing+=(rabbitmq-server)
    ((${#missing[@]} == 0)) && return
    echo "not there: ${missing[*]}"
    installed "${missing[@]}" && return
    echo "install Redis 6.2 or later and RabbitMQ 3.10 or later (Debian: apt-get install ${missing[*]}), or run tests/run --quick"
    return 1
}

# installed PACKAGE...: installs them where that can be done. No service of theirs is started: this run starts its own.
installed() {
    local policy=/usr/sbin/policy-rc.d end
    [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null || return 1
    echo "installing $*"
    if [[ -e $policy ]]; then
        policy=''
    else
        printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" || return 1
    fi
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
    end=$?
    [[ -n $policy ]] && rm -f "$policy"
    return "$end"
}
