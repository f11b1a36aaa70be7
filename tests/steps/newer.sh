# The servers of the next Debian, RabbitMQ 4 and Redis 8, in a root made by debootstrap, and the tests that need servers run
# against those. Before it this run's other servers are ended.

newer_suite=trixie newer_root=''

newer_servers() {
    local end
    can_make_roots "newer servers" || return 0
    newer_root="$PWD/target/debian-$newer_suite"
    newer_made || return 1
    servers_stop
    servers_root=$newer_root
    mountpoint -q "$newer_root/proc" || mount -t proc proc "$newer_root/proc" || return 1
    # whatever ends the run, nothing of it stays mounted
    servers_start && trap newer_stop EXIT && servers_ready && newer_versions && newer_tests
    end=$?
    newer_stop
    return "$end"
}

newer_stop() {
    servers_stop
    servers_root=''
    mountpoint -q "$newer_root/proc" && umount -l "$newer_root/proc"
}

# Makes the root, unless it is there; one that was not finished is made anew.
newer_made() {
    local log=$PWD/target/debootstrap.log
    [[ -e $newer_root/etc/stepcast-made ]] && return
    rm -rf --one-file-system -- "$newer_root"
    debootstrap --variant=minbase --include=rabbitmq-server,redis-server "$newer_suite" "$newer_root" >"$log" 2>&1 || {
        tail "$log"
        return 1
    }
    touch "$newer_root/etc/stepcast-made"
}

newer_versions() { chroot "$newer_root" dpkg-query -W rabbitmq-server redis-server; }

# The tests that start a Redis of their own take the newer one too, with the libraries of its root; the integration tests
# have had their turn.
newer_tests() {
    local libraries loader
    libraries=$(echo "$newer_root"/usr/lib/*-linux-gnu)
    loader=$(echo "$libraries"/ld-linux-*.so.*)
    mkdir -p "$servers_folder/bin" || return 1
    printf '#!/bin/sh\nexec %q --library-path %q %q "$@"\n' "$loader" "$libraries" "$newer_root/usr/bin/redis-server" \
        >"$servers_folder/bin/redis-server" && chmod +x "$servers_folder/bin/redis-server" || return 1
    PATH=$servers_folder/bin:$PATH \
        counted cargo test --workspace --exclude tests --locked --no-fail-fast -- --ignored --skip ::long_
}
