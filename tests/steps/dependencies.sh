# Dependencies: none unused, no new duplicates, none that is not wanted, none with a known hole.

# Each dependency that a member names is used by a path in its Rust files.
unused_dependencies() {
    local manifest folder dependency crate found=0
    # fuzz is a workspace of its own
    for manifest in $(grep -L "^\[workspace\]" */Cargo.toml); do
        folder=${manifest%/*}
        while read -r dependency; do
            crate=${dependency//-/_}
            grep -rqE --include='*.rs' "(^|[^A-Za-z0-9_])($crate::|use $crate(;| as ))" "$folder" && continue
            echo "$manifest: $dependency is not used"
            found=1
        done < <(awk '
            /^\[/ { within = /dependencies\]$/ }
            within && /^[A-Za-z0-9_-]+(\.workspace)? *=/ { sub(/(\.workspace)? *=.*/, ""); print }
        ' "$manifest")
    done
    return "$found"
}

# Crates that are built in two versions, and why that is borne, are listed in tests/duplicates.txt.
duplicate_dependencies() {
    local now listed built unwanted end=0 crate
    now=$(cargo tree -d --workspace --locked -e normal,build --depth 0 --prefix none) || return 1
    now=$(awk 'NF { print $1 }' <<<"$now" | sort -u)
    listed=$(grep -v '^#' tests/duplicates.txt | awk 'NF { print $1 }' | sort -u)
    while read -r crate; do
        echo "$crate is built in two versions: get rid of one, or give a reason in tests/duplicates.txt"
        cargo tree --workspace --locked -d -e normal,build --depth 2 --prefix depth | grep -A3 "^0$crate " | sed 's/^/  /'
        end=1
    done < <(comm -23 <(printf '%s\n' "$now") <(printf '%s\n' "$listed") | sed '/^$/d')
    while read -r crate; do
        echo "$crate is built in one version now: take it out of tests/duplicates.txt"
    done < <(comm -13 <(printf '%s\n' "$now") <(printf '%s\n' "$listed") | sed '/^$/d')
    # one library for cryptography (aws-lc), one for TLS (rustls)
    built=$(cargo tree --workspace --locked --prefix none) || return 1
    for unwanted in ring openssl-sys native-tls; do
        if grep -q "^$unwanted v" <<<"$built"; then
            echo "$unwanted is not wanted here:"
            cargo tree --workspace --locked -i "$unwanted"
            end=1
        fi
    done
    return "$end"
}

# Known holes, by cargo-audit or cargo-deny, where one of them and its database can be had.
advisories() {
    local said end
    if cargo audit --version >/dev/null 2>&1; then
        said=$(timeout 300 cargo audit 2>&1)
    elif cargo deny --version >/dev/null 2>&1; then
        said=$(timeout 300 cargo deny check advisories 2>&1)
    else
        echo "skipped: advisories (neither cargo-audit nor cargo-deny is here)"
        return 0
    fi
    end=$?
    if ((end == 124)) || grep -qiE "fetch advisory|advisory database|fetching|failed to fetch" <<<"$said" \
        && ! grep -qiE "RUSTSEC-[0-9]" <<<"$said" && ((end != 0)); then
        echo "skipped: advisories (no database here)"
        return 0
    fi
    printf '%s\n' "$said"
    return "$end"
}
