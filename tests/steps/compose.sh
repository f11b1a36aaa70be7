# docker-compose.yml without an engine: it is a compose file, every command in it exists, and so does every setting.
#
#   bash tests/steps/compose.sh PROGRAM      PROGRAM: the stepcast binary
#
# Debian's docker-compose 1.29 checks a file against the schema; as root it is installed when it is missing.

compose_checked() {
    local program=$1 folder end
    has_compose || return
    docker-compose -f docker-compose.yml config -q || return
    folder=$(mktemp -d) || return
    docker-compose -f docker-compose.yml config >"$folder/whole.yml" && daemons_checked "$program" "$folder"
    end=$?
    rm -rf "$folder"
    return "$end"
}

has_compose() {
    command -v docker-compose >/dev/null && return
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker-compose >/dev/null
        command -v docker-compose >/dev/null && return
    fi
    echo "skipped: docker-compose.yml (docker-compose is not there: Debian: apt-get install docker-compose)"
    exit 0
}

# For each service that is built here: its command is one of the program's, and the program takes its environment, with
# secrets of the test's own.
daemons_checked() {
    local program=$1 folder=$2
    # docker-compose is a Python program and brings this reader of YAML
    python3 - "$program" "$folder" <<'END'
import os, re, subprocess, sys, yaml

program, folder = sys.argv[1:]
whole = yaml.safe_load(open(f"{folder}/whole.yml"))
faults, daemons = [], 0
text = open("docker-compose.yml").read()
for name, secret in whole.get("secrets", {}).items():
    if "file" not in secret:
        faults.append(f"secrets.{name}: a file is wanted")
    open(f"{folder}/{name}", "w").write("a-secret-of-the-test")
for word in re.findall(r"(?im)^\s*[a-z_]*(?:password|pass|secret|key)\s*[:=]\s*(\S+)\s*$", text):
    if not word.startswith(("/run/secrets/", "$$(cat")):
        faults.append(f"a secret in the file itself: {word}")
for name, service in whole["services"].items():
    for wanted in ("healthcheck", "mem_limit", "cpus", "restart"):
        if wanted not in service:
            faults.append(f"{name}: no {wanted}")
    for secret in service.get("secrets", []):
        if (secret if isinstance(secret, str) else secret["source"]) not in whole["secrets"]:
            faults.append(f"{name}: secret {secret} is not declared")
    if "build" not in service:
        continue
    daemons += 1
    given = {key: str(value) for key, value in service["environment"].items()}
    unknown = [key for key in given if not key.startswith("STEPCAST_")]
    faults += [f"{name}: {key} is no setting" for key in unknown]
    for key, value in given.items():
        if value.startswith("/run/secrets/"):
            if os.path.basename(value) not in [s if isinstance(s, str) else s["source"] for s in service["secrets"]]:
                faults.append(f"{name}: {key} names a secret that the service does not have")
            given[key] = value.replace("/run/secrets", folder)
    command = service["command"]
    for args in ([*command, "--help"], ["config", "check"]):
        done = subprocess.run([program, *args], env=given, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            faults.append(f"{name}: stepcast {' '.join(args)} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
if daemons == 0:
    faults.append("no service is built here: nothing was checked")
print("\n".join(faults) or f"{len(whole['services'])} services, {daemons} of them ours: every command and setting exists")
sys.exit(bool(faults))
END
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    cd "$(dirname "$0")/../.." || exit 1
    compose_checked "$1"
fi
