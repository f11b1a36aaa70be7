# The servers of the next Debian, RabbitMQ 4 and Redis 8, in a root made by debootstrap, and the tests that need servers run
# against those. Before it this run's other servers are ended.

newer_suite=trixie

newer_servers() {
    local root proc=no end
    can_make_roots "newer servers" || return 0
    root=$PWD/target/debian-$newer_suite
    newer_root "$root" || return 1
    servers_stop
    if ! mountpoint -q "$root/proc"; then
        mount -t proc proc "$root/proc" || return 1
        proc=yes
    fi
    servers_root=$root
    servers_start && servers_ready && newer_versions && counted_newer
    end=$?
    servers_stop
    servers_root=''
    [[ $proc == no ]] || umount "$root/proc"
    return "$end"
}

# Makes the root, unless it is there; one that was not finished is made anew.
newer_root() {
    local root=$1 log=$PWD/target/debootstrap.log
    [[ -e $root/etc/stepcast-made ]] && return
    rm -rf --one-file-system -- "$root"
    debootstrap --variant=minbase --include=rabbitmq-server,redis-server "$newer_suite" "$root" >"$log" 2>&1 || {
        tail "$log"
        return 1
    }
    touch "$root/etc/stepcast-made"
}

newer_versions() { chroot "$servers_root" dpkg-query -W rabbitmq-server redis-server; }

# the tests that start servers of their own take this machine's, and have had their turn
counted_newer() { counted cargo test --workspace --exclude tests --locked --no-fail-fast -- --ignored --skip ::long_; }
