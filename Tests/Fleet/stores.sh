# What the programs in this folder have in common: stores, their checks, and messages. Sourced, in a scratch folder, with
# $package, $share_fleet and $stores set.

say() { printf '\n# %s\n' "$1"; }
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

make_store() {
    mkdir -p "homes/$1/app" "homes/$1/group" recipes
    sed "s/^seed: .*/seed: store-$1/; s/Folder {n}/Folder {n} of $1/" \
        "$package/Fixtures/Stores/clean/recipe.yaml" >"recipes/$1.yaml"
    "$STORE_MIGRATE" fixture build "recipes/$1.yaml" "homes/$1/app/Notes.sqlite" -q >/dev/null
}

# Makes every store with its own objects and UUID, and the list of them.
make_stores() {
    seq "$stores" | xargs --max-procs="$workers" -I{} bash -euc 'make_store {}'
    for number in $(seq "$stores"); do
        printf '%s\t%s\n' "$PWD/homes/$number/app/Notes.sqlite" "$PWD/homes/$number/group"
    done >list
}

# Removes what was shared, so that the same stores can be shared again.
remake_stores() {
    rm -rf homes outcomes
    make_stores
}

outcomes() { find outcomes -name '*.json' 2>/dev/null | wc -l; }
holders() { find homes -name 'Notes.sqlite' -path '*/group/*' | wc -l; }

# Waits until a share of the stores, in hundredths, is at its new path.
await_holders() {
    until [ "$(holders)" -ge $((stores * $1 / 100)) ]; do sleep 0.05; done
}

check_store() {
    local old=homes/$1/app/Notes.sqlite new=homes/$1/group/Notes.sqlite
    [ "$(sqlite3 -readonly "$new" 'PRAGMA integrity_check')" = ok ]
    cmp -s <(sqlite3 -readonly "$old" '.dump --data-only') <(sqlite3 -readonly "$new" '.dump --data-only')
    [ "$(sqlite3 -readonly "$new" "SELECT count(*) FROM ZFOLDER WHERE ZNAME LIKE 'Folder % of $1'")" = 2 ]
    ! sqlite3 "$old" "UPDATE ZFOLDER SET ZNAME = 'late'" 2>/dev/null
    [ -z "$(find "homes/$1/group" -name '.store-migrate*')" ]
    sqlite3 -readonly "$new" 'SELECT Z_UUID FROM Z_METADATA'
}

# Checks with sqlite3 that every store was shared completely, and only to its own path.
check_stores() {
    seq "$stores" | xargs --max-procs="$workers" -I{} bash -euc 'check_store {} || { echo "store {}" >&2; exit 255; }' >uuids
    [ "$(sort -u uuids | wc -l)" = "$stores" ] || fail 'two stores have the same UUID'
    [ "$(holders)" = "$stores" ] || fail 'the number of shared stores is wrong'
    echo "$stores stores at their new paths, integrity_check ok, rows equal, writes to the old ones refused"
}

check_summary() {
    [ "$(wc -l <"$1/summary.jsonl")" = "$stores" ] || fail "$1/summary.jsonl has the wrong number of lines"
    cmp <(sed -E 's/^\{"old":"([^"]*)","new":"([^"]*)","exit":0,"summary":\{.*/\1\t\2/' "$1/summary.jsonl") list ||
        fail "$1/summary.jsonl does not list every store once, in the list's order, with exit 0"
}

# Ends every process of a session: GNU parallel starts each job in its own process group.
kill_session() {
    local processes
    # Zombies are skipped: their parents reap them.
    while processes=$(ps -o stat=,pid= --sid "$1" | awk '$1 !~ /^Z/ { print $2 }') && [ -n "$processes" ]; do
        kill -KILL $processes 2>/dev/null || true
    done
}

export -f make_store check_store
export package
