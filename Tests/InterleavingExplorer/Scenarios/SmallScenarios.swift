import Foundation
package import SafeFiles

/// Two programs that publish a file under one name, small enough to try every schedule.
///
/// `link` fails if the name exists. A program that checks the name first and renames afterwards is a known mistake: both publish.
package struct PublicationScenario: Scenario {
    package var name: String { checksFirst ? "publish-after-check" : "publish-by-link" }
    private let checksFirst: Bool
    private let programs: Int

    package init(checksFirst: Bool, programs: Int = 2) {
        self.checksFirst = checksFirst
        self.programs = programs
    }

    package func actors(_ root: String) -> [Actor] {
        (1...programs)
            .map { number in
                let (own, new) = ("\(root)/own\(number)", "\(root)/published")
                return checksFirst
                    ? Actor("publisher \(number)", "/bin/sh", ["-c", "[ ! -e '\(new)' ] && exec mv '\(own)' '\(new)'"])
                    : Actor("publisher \(number)", "/bin/ln", [own, new])
            }
    }

    package func prepare(_ root: Directory) throws {
        for number in 1...programs { try root.createFile("own\(number)", mode: 0o600).close() }
    }

    package func objections(to run: Run, in root: Directory) throws -> [String] {
        let publications = run.endings.count { $0 == .exited(0) }
        return publications == 1 ? [] : ["\(publications) programs published"]
    }
}

/// Two programs that lock two files: in the same order, or in opposite orders, which is a known mistake.
package struct LockOrderScenario: Scenario {
    package var name: String { isOrdered ? "locks-in-order" : "locks-in-opposite-orders" }
    private let isOrdered: Bool

    package init(isOrdered: Bool) { self.isOrdered = isOrdered }

    package func actors(_ root: String) -> [Actor] {
        let (first, second) = (".flock \(root)/first", ".flock \(root)/second")
        return [
            LogStore.program("first", on: ":memory:", [first, second]),
            LogStore.program("second", on: ":memory:", isOrdered ? [first, second] : [second, first]),
        ]
    }

    package func prepare(_ root: Directory) throws {
        for name in ["first", "second"] { try root.createFile(name, mode: 0o600).close() }
    }

    package func objections(to run: Run, in root: Directory) throws -> [String] {
        run.outputs.allSatisfy { $0 == ["ok", "ok"] } ? [] : ["a lock was refused: \(run.outputs)"]
    }
}
