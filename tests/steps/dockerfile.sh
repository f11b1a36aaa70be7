#!/usr/bin/env bash
# Runs what the Dockerfile says, line by line, in Debian roots made by debootstrap: no container engine is wanted. As root.
#
# FROM makes a root, with this machine's Rust bound into it where the image is Rust's; RUN, COPY, WORKDIR, ENV, USER are done
# as they stand; ENTRYPOINT and CMD are tried at the end, with `--version` and `config check` as the arguments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d) mounted=()
unmount() {
    local at
    for at in "${mounted[@]}"; do umount -l "$at" || true; done
    mounted=()
}
trap 'unmount; rm -rf --one-file-system "$work"' EXIT

# lines of the Dockerfile with their continuations joined and their comments gone: INSTRUCTION<tab>REST
instructions() {
    awk '
        /^[ \t]*#/ { next }
        { line = line $0 }
        /\\$/ { sub(/\\$/, " ", line); next }
        line !~ /^[ \t]*$/ { name = line; sub(/[ \t].*/, "", name); sub(/^[^ \t]+[ \t]+/, "", line); print name "\t" line }
        { line = "" }
    ' Dockerfile
}

# a root of the release that the image names
base=''
begin() {
    local image=$1 suite
    suite=$(grep -oE 'bookworm|trixie' <<<"$image") || { echo "FROM $image: which Debian is that?"; exit 1; }
    if [[ -z $base ]]; then
        base=$work/base
        debootstrap --variant=minbase "$suite" "$base" >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }
        base_suite=$suite
    fi
    [[ $suite == "$base_suite" ]] || { echo "two releases of Debian in one Dockerfile"; exit 1; }
    cp -a "$base" "$root"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
    # the image has a name service like everybody's; a machine behind a proxy has its own way out
    [[ -f /etc/hosts ]] && cp /etc/hosts "$root/etc/hosts"
    mount -t proc proc "$root/proc"
    mounted+=("$root/proc")
    if [[ $image == rust:* ]]; then
        local wanted=${image#rust:} have
        wanted=${wanted%%-*}
        have=$(rustc --version | cut -d' ' -f2)
        [[ $have == "$wanted"* ]] || echo "note: the image has Rust $wanted, this machine $have"
        local sysroot cargo_home=${CARGO_HOME:-$HOME/.cargo}
        sysroot=$(rustc --print sysroot)
        mkdir -p "$root/usr/local/rust" "$root/usr/local/cargo/registry"
        mount --bind "$sysroot" "$root/usr/local/rust"
        mount --bind "$cargo_home/registry" "$root/usr/local/cargo/registry"
        mounted=("$root/usr/local/rust" "$root/usr/local/cargo/registry" "${mounted[@]}")
        env+=("CARGO_HOME=/usr/local/cargo" "PATH=/usr/local/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    fi
}

inside() { env -i "${env[@]}" chroot --userspec="$user" "$root" "$@"; }

declare -A roots=()
root='' user=0:0 directory=/ entrypoint='' command='' env=() stages=0
while IFS=$'\t' read -r name rest; do
    printf '   %s %s\n' "$name" "${rest:0:100}"
    case $name in
        FROM)
            root=$work/stage$stages user=0:0 directory=/ entrypoint=''
            env=("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            for variable in http_proxy https_proxy HTTP_PROXY HTTPS_PROXY CARGO_HTTP_CAINFO SSL_CERT_FILE; do
                [[ -n ${!variable:-} ]] && env+=("$variable=${!variable}")
            done
            ((stages += 1))
            begin "${rest%% *}"
            stage=$(sed -nE 's/.* AS ([a-z]+)$/\1/p' <<<"$rest")
            roots[${stage:-last}]=$root
            ;;
        RUN) inside sh -c "cd '$directory' && $rest" </dev/null >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; } ;;
        WORKDIR)
            directory=$rest
            mkdir -p "$root$directory"
            ;;
        COPY)
            from=$PWD
            if [[ $rest == --from=* ]]; then
                stage=${rest%% *} rest=${rest#* }
                from=${roots[${stage#--from=}]}
            fi
            read -r what where <<<"$rest"
            if [[ $what == . ]]; then
                tar -C "$from" --exclude-from=<(grep -vE '^(#|!|$)' .dockerignore | sed 's|^|./|') -cf - . | tar -C "$root$directory" -xf -
            else
                install -D -m "$(stat -c %a "$from$what")" "$from$what" "$root$where"
            fi
            ;;
        ENV) env+=("$rest") ;;
        USER) user=$rest ;;
        ENTRYPOINT) entrypoint=$(tr -d '[]",' <<<"$rest") ;;
        CMD) command=$(tr -d '[]",' <<<"$rest") ;;
        *) echo "the Dockerfile has $name, which is not known here"; exit 1 ;;
    esac
done < <(instructions)

# the program as its container would start it, as its user, in its directory
inside sh -c "cd '$directory' && $entrypoint --version && $entrypoint config check"
inside sh -c "cd '$directory' && timeout -s INT 2 $entrypoint $command" >"$work/log" 2>&1 || end=$?
[[ ${end:-0} == 124 || ${end:-0} == 0 ]] || { cat "$work/log"; echo "$entrypoint $command ended with $end"; exit 1; }
grep -q "stepcast runs" "$work/log" || { cat "$work/log"; exit 1; }
[[ $(inside id -u) != 0 ]] || { echo "the image runs as root"; exit 1; }
