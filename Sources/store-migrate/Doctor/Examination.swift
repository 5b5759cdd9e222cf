import StoreFormat

/// What the doctor found of SQLite, the kernel and one folder.
struct Examination {
    let folder: String
    let kernel: KernelRelease
    let checks: [Check]

    /// Examines this machine and the folder at the path.
    init(of folder: String) throws {
        kernel = KernelRelease.running
        let probe = try FolderProbe(at: folder)
        self.folder = probe.path
        checks = Self.sqliteChecks + [kernel.check] + probe.checks
    }

    var findings: [Finding] { checks.compactMap { $0.finding(path: folder) } }

    /// What of the library matters: the modules that genuine stores need, and its known defects.
    private static var sqliteChecks: [Check] {
        let options = Set(SQLiteLibrary.compileOptions)
        let needed = ["ENABLE_FTS3", "ENABLE_FTS4", "ENABLE_FTS5", "ENABLE_RTREE"]
        let missing = needed.filter {
            !options.contains($0) && !($0 == "ENABLE_FTS3" && options.contains("ENABLE_FTS4"))
        }
        var checks = [
            Check("sqlite", .fine, "\(SQLiteLibrary.version), \(SQLiteLibrary.sourceID)"),
            missing.isEmpty
                ? Check("sqliteModules", .fine, "full-text search and R*Tree are built in")
                : Check(
                    "sqliteModules",
                    .problem,
                    "built without \(missing.joined(separator: ", ")); use Debian's library"
                ),
        ]
        if options.contains("THREADSAFE=0") {
            checks.append(Check("sqliteThreads", .problem, "built without threads; use Debian's library"))
        }
        if SQLiteLibrary.hasLogResetDefect {
            let range = "SQLite 3.7.0 to 3.51.2 can lose a log that two connections reset at once"
            checks.append(
                Check("logResetDefect", .note, "\(range); no store others may have open is ever checkpointed")
            )
        }
        return checks
    }
}

extension Examination {
    /// The examination as an object.
    var record: JSONValue {
        .object([
            ("type", .string("doctor")), ("folder", .string(folder)), ("kernel", .string(kernel.text)),
            (
                "sqlite",
                .object([
                    ("version", .string(SQLiteLibrary.version)), ("source", .string(SQLiteLibrary.sourceID)),
                    ("options", .strings(SQLiteLibrary.compileOptions)),
                ])
            ),
            (
                "checks",
                .array(
                    checks.map { check in
                        .object([
                            ("name", .string(check.name)), ("state", .string(check.state.rawValue)),
                            ("detail", .string(check.detail)),
                        ])
                    }
                )
            ),
        ])
    }

    /// The examination as a person reads it.
    func text(_ style: Style) -> String {
        let rows = checks.map { check in
            let word = Figures.padded(check.state.rawValue, to: 7)
            let state =
                switch check.state {
                case .fine: style.green(word)
                case .note: style.yellow(word)
                case .problem: style.red(word)
                }
            return "  \(state)  \(Figures.padded(check.name, to: 15))  \(Escaped.text(check.detail))"
        }
        let problems = checks.filter { $0.state == .problem }.count
        let verdict = problems == 0 ? "nothing stands in the way" : Figures.count(Int64(problems), "problem")
        return "\(Escaped.text(folder)): \(verdict)\n" + rows.joined(separator: "\n")
    }
}
