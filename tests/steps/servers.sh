# The servers that tests talk to: one Redis, a Redis cluster of three nodes, one RabbitMQ. They are this run's alone: on
# free ports of 127.0.0.1, in a folder of their own, ended and taken away with the run.

# the folder of the system whose servers are meant, if it is not this one
servers_root=''
servers_folder='' server_names=() server_pids=() server_ports=()
taken_ports=' '

# Starts them in the background; servers_ready waits for them.
servers_start() {
    local n amqp amqps dist epmd cluster=()
    server_names=() server_pids=() server_ports=()
    servers_folder=$(mktemp -d "${TMPDIR:-/tmp}/stepcast-servers.XXXXXX") || return 1
    [[ -z $servers_root ]] || servers_bind || return 1
    trap servers_stop EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP

    free_port && redis_start redis "$port" || return 1
    export STEPCAST_TEST_REDIS=redis://127.0.0.1:$port
    for n in 1 2 3; do
        # a short time limit, so that the death of a node is noticed soon
        free_port && redis_start "cluster-$n" "$port" --cluster-enabled yes --cluster-node-timeout 2000 || return 1
        cluster+=("127.0.0.1:$port")
    done
    cluster_nodes=("${cluster[@]}")
    STEPCAST_TEST_REDIS_CLUSTER=$(printf ',redis://%s' "${cluster[@]}")
    export STEPCAST_TEST_REDIS_CLUSTER=${STEPCAST_TEST_REDIS_CLUSTER#,}

    free_port && epmd=$port && free_port && dist=$port && free_port && amqp=$port || return 1
    free_port && amqps=$port || return 1
    rabbitmq_start "$amqp" "$amqps" "$dist" "$epmd" || return 1
    export STEPCAST_TEST_AMQP=amqp://guest:guest@127.0.0.1:$amqp/%2f
    export STEPCAST_TEST_AMQPS=amqps://guest:guest@localhost:$amqps/%2f
}

# Waits until each answers, and makes one cluster of the three nodes.
servers_ready() {
    local n end
    for n in "${!server_pids[@]}"; do
        server_answers "$n" || return 1
    done
    end=$(redis-cli --cluster create "${cluster_nodes[@]}" --cluster-yes 2>&1) || { printf '%s\n' "$end"; return 1; }
    for n in "${cluster_nodes[@]}"; do
        cluster_agrees "$n" || return 1
    done
    printf '%s\n' "redis: $STEPCAST_TEST_REDIS" "redis cluster: $STEPCAST_TEST_REDIS_CLUSTER" "rabbitmq: $STEPCAST_TEST_AMQP"
}

# Ends what servers_start started, and only that. Nothing of theirs is worth a tidy end.
servers_stop() {
    local pid
    for pid in "${server_pids[@]}"; do
        kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done
    server_pids=()
    if [[ -n $servers_folder ]]; then
        mountpoint -q "$servers_root$servers_folder" && umount -l "$servers_root$servers_folder"
        rm -rf --one-file-system -- "$servers_folder"
    fi
    servers_folder=''
}

# The servers of another system see the folder at the same place.
servers_bind() {
    mkdir -p "$servers_root$servers_folder" && mount --bind "$servers_folder" "$servers_root$servers_folder"
}

# Sets `port` to one that nobody listens on, nor 10,000 above it, where a node of a cluster listens too. Below what the
# system deals out to connections by itself.
free_port() {
    local try
    for try in {1..100}; do
        port=$((20000 + RANDOM % 2500))
        [[ $taken_ports == *" $port "* ]] && continue
        listening "$port" || listening "$((port + 10000))" || { taken_ports+="$port "; return 0; }
    done
    echo "no free port was found"
    return 1
}

listening() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# started NAME PORT COMMAND...: runs it in the background, with its output in a log
started() {
    local name=$1 port=$2
    shift 2
    if [[ -n $servers_root ]]; then set -- chroot "$servers_root" "$@"; fi
    "$@" >"$servers_folder/$name.log" 2>&1 </dev/null &
    server_names+=("$name") server_pids+=($!) server_ports+=("$port")
}

redis_start() {
    local name=$1 port=$2 folder=$servers_folder/$1
    shift 2
    mkdir -p "$folder" || return 1
    started "$name" "$port" redis-server --port "$port" --bind 127.0.0.1 --dir "$folder" --save '' \
        --appendonly yes --appendfsync always --maxmemory-policy noeviction "$@"
}

rabbitmq_start() {
    local amqp=$1 amqps=$2 dist=$3 epmd=$4 folder=$servers_folder/rabbitmq
    mkdir -p "$folder" && cp plumbing/src/amqp/certificates/server.* "$folder" || return 1
    printf '%s\n' "listeners.tcp.1 = 127.0.0.1:$amqp" "listeners.ssl.1 = 127.0.0.1:$amqps" \
        "ssl_options.certfile = $folder/server.pem" "ssl_options.keyfile = $folder/server.key" \
        'ssl_options.versions.1 = tlsv1.3' 'ssl_options.versions.2 = tlsv1.2' 'log.console = true' >"$folder/rabbitmq.conf"
    # its own files only: what the system's package sets up is for the system's broker
    : >"$folder/env.conf"
    echo '[].' | tee "$folder/advanced.config" >"$folder/plugins"
    local places=(HOME="$folder" ERL_CRASH_DUMP="$folder/crash" ERL_EPMD_PORT="$epmd" ERL_EPMD_ADDRESS=127.0.0.1)
    started epmd "$epmd" env "${places[@]}" epmd -port "$epmd" -address 127.0.0.1
    started rabbitmq "$amqp" env "${places[@]}" RUNNING_UNDER_SYSTEMD=1 NOTIFY_SOCKET= \
        RABBITMQ_NODENAME="stepcast-$amqp@localhost" RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT="$amqp" \
        RABBITMQ_DIST_PORT="$dist" RABBITMQ_CONF_ENV_FILE="$folder/env.conf" RABBITMQ_CONFIG_FILE="$folder/rabbitmq.conf" \
        RABBITMQ_ADVANCED_CONFIG_FILE="$folder/advanced.config" RABBITMQ_ENABLED_PLUGINS_FILE="$folder/plugins" \
        RABBITMQ_MNESIA_BASE="$folder/mnesia" RABBITMQ_LOG_BASE="$folder/log" RABBITMQ_PID_FILE="$folder/pid" \
        "$(rabbitmq_program)"
}

# The broker's own script: the one in the path (Debian's) changes to another user.
rabbitmq_program() {
    local program
    for program in "$servers_root"/usr/lib/rabbitmq/bin/rabbitmq-server "$servers_root"/usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server; do
        program=${program#"$servers_root"}
        [[ -x $servers_root$program ]] && { echo "$program"; return; }
    done
    command -v rabbitmq-server
}

server_answers() {
    local name=${server_names[$1]} pid=${server_pids[$1]} port=${server_ports[$1]} end=$((SECONDS + 120))
    while kill -0 "$pid" 2>/dev/null; do
        listening "$port" && return
        ((SECONDS < end)) || break
        sleep 0.1
    done
    echo "$name does not answer on port $port:"
    tail -n 30 "$servers_folder/$name.log"
    return 1
}

cluster_agrees() {
    local end=$((SECONDS + 60))
    while ((SECONDS < end)); do
        redis-cli -h "${1%:*}" -p "${1#*:}" cluster info 2>/dev/null | grep -q '^cluster_state:ok' && return
        sleep 0.1
    done
    echo "the node $1 of the redis cluster does not agree with the others"
    return 1
}
