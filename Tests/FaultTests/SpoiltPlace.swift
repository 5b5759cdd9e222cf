import FaultSupport
import SafeFiles
import Testing

/// One fault in the result of a finished command, and the objection that its judge must raise.
struct SpoiltPlace: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// A part of the objection.
    let objection: String
    /// True for leftovers, which only a following run has to remove.
    private var isLeftBehind = false
    private let spoil: @Sendable (Scratch) throws -> Void

    init(_ testDescription: String, _ objection: String, _ spoil: @escaping @Sendable (Scratch) throws -> Void) {
        self.testDescription = testDescription
        self.objection = objection
        self.spoil = spoil
    }

    /// A store in which statements were run.
    static func store(_ path: String, _ testDescription: String, _ objection: String, _ sql: String) -> SpoiltPlace {
        SpoiltPlace(testDescription, objection) { try PlainStore("\($0.path)/\(path)").execute(sql) }
    }

    /// A file that is gone.
    static func removed(_ path: String, _ testDescription: String, _ objection: String) -> SpoiltPlace {
        SpoiltPlace(testDescription, objection) { scratch in
            let (folder, name) = try found(path, scratch)
            try folder.removeFile(name)
        }
    }

    /// A file with changed bytes.
    static func replaced(
        _ path: String,
        _ testDescription: String,
        _ objection: String,
        _ bytes: @escaping @Sendable ([UInt8]) -> [UInt8] = { _ in [4] }
    ) -> SpoiltPlace {
        SpoiltPlace(testDescription, objection) { scratch in
            let (folder, name) = try found(path, scratch)
            try folder.replace(name, with: bytes(folder.contents(of: name, limit: 1 << 24)), mode: 0o600)
        }
    }

    /// An unexpected file.
    static func left(_ path: String, _ testDescription: String, _ objection: String = "left behind") -> SpoiltPlace {
        var place = SpoiltPlace(testDescription, objection) { scratch in
            let parts = path.split(separator: "/").map(String.init)
            let folder = try Directory.open(path: ([scratch.path] + parts.dropLast()).joined(separator: "/"))
            try folder.replace(#require(parts.last), with: [1], mode: 0o600)
        }
        place.isLeftBehind = true
        return place
    }

    /// A file that exists under a second name.
    static func copied(_ path: String, _ copy: String, _ testDescription: String, _ objection: String) -> SpoiltPlace {
        SpoiltPlace(testDescription, objection) { scratch in
            let (folder, name) = try found(path, scratch)
            let bytes = try folder.contents(of: name, limit: 1 << 24)
            try folder.replace(copy, with: bytes, mode: 0o600)
        }
    }

    /// The first path that begins and ends in this way, where `*` stands for the rest.
    static func found(_ pattern: String, _ scratch: Scratch) throws -> (folder: Directory, name: String) {
        let ends = pattern.split(separator: "*", omittingEmptySubsequences: false)
        let (prefix, suffix) = try (#require(ends.first), #require(ends.last))
        let paths = try scratch.listing().sorted()
        let path = paths.first { path in
            ends.count == 1 ? path == pattern : path.hasPrefix(prefix) && path.hasSuffix(suffix) && !path.hasSuffix("/")
        }
        let parts = try #require(path, "\(pattern) is not among \(paths)").split(separator: "/").map(String.init)
        let folder = try Directory.open(path: ([scratch.path] + parts.dropLast()).joined(separator: "/"))
        return (folder, try #require(parts.last))
    }

    /// Runs the command in a fresh scratch folder, injects the fault, and expects the judge to object to a following run and
    /// to a claimed success.
    func expectObjection(of judge: any Judge) throws {
        let scratch = try Self.finished(judge)
        try spoil(scratch)
        let later = try judge.afterRerun(scratch, .exited(0))
        #expect(later.contains { $0.contains(objection) }, "run again: \(later)")
        let claimed = try judge.afterFault(scratch, .inputOutputError, .exited(0))
        #expect(isLeftBehind || claimed.contains { $0.contains(objection) }, "\(claimed)")
    }

    /// Injects the fault before the command runs, and expects the judge to object to the state after a kill.
    func expectObjectionBefore(_ judge: any Judge) throws {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        #expect(try judge.afterFault(scratch, .killBefore, .killed(signal: 9)) == [])
        try spoil(scratch)
        let objections = try judge.afterFault(scratch, .killBefore, .killed(signal: 9))
        #expect(objections.contains { $0.contains(objection) }, "\(objections)")
    }

    /// Expects that a judge does not object to an unchanged result.
    static func expectContent(_ judge: any Judge) throws {
        let scratch = try finished(judge)
        #expect(try judge.afterRerun(scratch, .exited(0)) == [])
        #expect(try judge.afterFault(scratch, .inputOutputError, .exited(0)) == [])
        #expect(try judge.afterFault(scratch, .killBefore, .killed(signal: 9)) == [])
        // An undocumented ending is an objection, even for a correct result.
        #expect(try judge.afterRerun(scratch, .exited(1)) != [])
        #expect(try judge.afterFault(scratch, .inputOutputError, .exited(134)) != [])
    }

    static func finished(_ judge: any Judge) throws -> Scratch {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        try judge.carryOut(in: scratch)
        return scratch
    }
}
