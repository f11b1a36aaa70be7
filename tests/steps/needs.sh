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
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        echo "no C compiler is there: installing gcc"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev && return
    fi
    echo "no C compiler is there: install gcc and the C library's headers (Debian: apt-get install gcc libc6-dev)"
    return 1
}
