import CSQLite
import Glibc

/// A program that writes to a store as an app would, in a process of its own; tests talk to it line by line.
///
/// `store-writer PATH` executes each line of its input as SQL and answers `ok`, `value <first value>` or
/// `error <code> <message>`; a line that begins with a full stop holds a lock, see `hold`. `store-writer PATH --loop ID` inserts rows until it is refused for good or its input ends,
/// and prints the number of each row that SQLite acknowledged. `store-writer PATH --statements SQL…` executes each argument
/// like a line of its input.

func open(_ path: String) -> OpaquePointer? {
    var connection: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    guard sqlite3_open_v2(path, &connection, flags, nil) == SQLITE_OK else { return nil }
    sqlite3_busy_timeout(connection, 10_000)
    return connection
}

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

func execute(_ sql: String, on connection: OpaquePointer) {
    var statement: OpaquePointer?
    var code = sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
    var value: String?
    while code == SQLITE_OK || code == SQLITE_ROW, statement != nil {
        code = sqlite3_step(statement)
        if code == SQLITE_ROW, value == nil {
            value = sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "null"
        }
        if code == SQLITE_DONE { break }
    }
    sqlite3_finalize(statement)
    if code == SQLITE_DONE || code == SQLITE_OK {
        say(value.map { "value \($0)" } ?? "ok")
    } else {
        say("error \(code) \(String(cString: sqlite3_errmsg(connection)))")
    }
}

/// Constants of the kernel that the C library declares for GNU programs alone.
let (openFileLock, setLease): (Int32, Int32) = (37, 1024)

/// What an app may hold a lock with, beside a transaction; kept until the program ends.
///
/// One line does not hold anything: a pause.
func hold(_ words: [Substring], on connection: OpaquePointer) -> Int32 {
    guard words.count > 1 else { return -1 }
    let rest = words.dropFirst().joined(separator: " ")
    switch words[0] {
    case ".pause":
        // A pause in milliseconds.
        usleep((useconds_t(rest) ?? 0) * 1000)
        return 0
    case ".step":
        // A statement with rows left.
        var statement: OpaquePointer?
        sqlite3_prepare_v2(connection, rest, -1, &statement, nil)
        return sqlite3_step(statement) == SQLITE_ROW ? 0 : -1
    case ".backup":
        // A backup into a store of the group, with pages left.
        guard let destination = open(rest) else { return -1 }
        let backup = sqlite3_backup_init(destination, "main", connection, "main")
        return sqlite3_backup_step(backup, 1) == SQLITE_OK ? 0 : -1
    case ".flock": return flock(Glibc.open(rest, O_RDWR | O_CREAT, 0o600), LOCK_EX)
    case ".shared": return flock(Glibc.open(rest, O_RDWR | O_CREAT, 0o600), LOCK_SH)
    case ".record", ".openFile", ".readRecord":
        let descriptor = Glibc.open(rest, O_RDWR | O_CREAT, 0o600)
        var range = flock()
        range.l_type = Int16(words[0] == ".readRecord" ? F_RDLCK : F_WRLCK)
        return fcntl(descriptor, words[0] == ".openFile" ? openFileLock : F_SETLK, &range)
    case ".lease": return fcntl(Glibc.open(rest, O_RDWR | O_CREAT, 0o600), setLease, F_WRLCK)
    default: return -1
    }
}

/// True once the test has closed this program's input; waits a millisecond, the pace of a busy app.
func hasInputEnded() -> Bool {
    var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, 1) > 0 else { return false }
    return true
}

func loop(_ id: Int, on connection: OpaquePointer) {
    var row = id * 10_000_000
    while !hasInputEnded() {
        row += 1
        let code = sqlite3_exec(
            connection,
            "INSERT INTO log (id, writer, text) VALUES (\(row), \(id), hex(randomblob(40)))",
            nil,
            nil,
            nil
        )
        switch code & 0xFF {
        case SQLITE_OK: say("\(row)")
        case SQLITE_BUSY, SQLITE_LOCKED: continue
        case SQLITE_CONSTRAINT:
            say("fenced")
            return
        default:
            say("error \(code) \(String(cString: sqlite3_errmsg(connection)))")
            return
        }
    }
    say("ended")
}

func answer(_ line: String, on connection: OpaquePointer) {
    if line.hasPrefix(".") {
        say(hold(line.split(separator: " "), on: connection) == 0 ? "ok" : "error")
    } else {
        execute(line, on: connection)
    }
}

guard CommandLine.arguments.count >= 2, let connection = open(CommandLine.arguments[1]) else { exit(2) }
if CommandLine.arguments.count == 4, CommandLine.arguments[2] == "--loop", let id = Int(CommandLine.arguments[3]) {
    loop(id, on: connection)
} else if CommandLine.arguments.count > 2, CommandLine.arguments[2] == "--statements" {
    for line in CommandLine.arguments.dropFirst(3) { answer(line, on: connection) }
} else {
    say("ready")
    while let line = readLine() { answer(line, on: connection) }
}
sqlite3_close(connection)
