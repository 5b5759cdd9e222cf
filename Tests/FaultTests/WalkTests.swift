import FaultSupport
import Foundation
import SafeFiles
import TestSupport
import Testing

/// Tests the model of the walks with small programs that make the mistakes of a faulty tool.
@Suite("Walks")
struct WalkTests {
    private static let setting = WalkWorld.Setting(shape: .integerKey, journalMode: "delete")
    private static let share = WalkStep.tool(.init(["share", "{0}", "{1}"]))
    private static let beginning: [WalkStep] = [
        .app(place: 0, .create), .app(place: 0, .insert(table: 0, token: 1, seed: 1)),
        .app(place: 0, .insert(table: 0, token: 2, seed: 2)),
    ]

    /// Runs steps with a shell script as the tool; the words of a command are `$2` and so on.
    private func violations(_ script: String, _ steps: [WalkStep]) throws -> [String] {
        try broken(script, steps).map(\.kind)
    }

    /// The broken rules with their rows, stores and numbers.
    private func texts(_ script: String, _ steps: [WalkStep]) throws -> [String] {
        try broken(script, steps).map { "\($0.rule) \($0.text)" }
    }

    private func broken(_ script: String, _ steps: [WalkStep]) throws -> [WalkWorld.Violation] {
        let place = try TemporaryDirectory(prefix: "walk-tests")
        let program = place.directory.path + "/tool"
        let fence = "CREATE TRIGGER f BEFORE INSERT ON item BEGIN SELECT raise(ABORT, 'moved'); END"
        let text = "#!/bin/sh\nfence=\"\(fence)\"\n\(script)\n"
        try text.write(toFile: program, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        return try Walk.replay(Self.beginning + steps, in: Self.setting, program: program).violations
    }

    @Test("A share that copies everything and fences the old store breaks no rule")
    func soundShare() throws {
        #expect(try violations(#"cp $2 $3; sqlite3 $2 "$fence""#, [Self.share]) == [])
    }

    @Test(
        "Each mistake of a share breaks its rule",
        arguments: [
            ("cp $2 $3; sqlite3 $2 \"delete from item where id = 1; $fence\"", "L2 … left the store at …"),
            ("cp $2 $3; sqlite3 $3 'delete from item where id = 1'; sqlite3 $2 \"$fence\"", "L4 … of … is not in …"),
            ("cp $2 $3; rm $2; sqlite3 $3 'delete from item where id = 1'", "L1 … is nowhere"),
            ("cp $2 $3; sqlite3 $3 'insert into item select null, token, x, y from item'; sqlite3 $2 \"$fence\"", "L3"),
            ("cp $2 $3; sqlite3 $3 \"update item set x = 'other'\"; sqlite3 $2 \"$fence\"", "bytes"),
            ("cp $2 $3; : > $2", "L2 the store at … is gone"),
            ("cp $2 $3", "L4 the old store at … still takes writes"),
            ("sqlite3 $2 \"$fence\"; cp $2 $3", "L4 the shared store at … refuses writes"),
            ("exit 4", "status status … without a message"),
            ("exit 77", "status status … is not documented"),
            ("sqlite3 $2 \"update item set token = 'v000009' where id = 1\"; echo no; exit 4", "L4 it ended with …"),
            ("kill -SEGV $$", "status it was ended by signal …"),
        ]
    )
    func mistakes(script: String, expected: String) throws {
        let found = try violations(script, [Self.share])
        #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
    }

    @Test("A reading command that changes a store, and one that writes through a fence, break a rule")
    func writesWhereNoneMayBe() throws {
        let change = "update item set x = 'other'"
        let status = WalkStep.tool(.init(["status", "{0}", "{1}"]))
        #expect(try violations("sqlite3 $2 \"\(change)\"", [status]).contains("L5 status changed the store at …"))
        let script = "if [ $1 = share ]; then cp $2 $3; sqlite3 $2 \"$fence\"; else sqlite3 $2 \"\(change)\"; fi"
        let merge = WalkStep.tool(.init(["merge", "{0}", "{1}"]))
        #expect(try violations(script, [Self.share, merge]).contains("L5 the fenced store at … was changed"))
    }

    @Test("An app that creates an empty database at the path of a withdrawn store breaks no rule")
    func appAfterWithdrawal() throws {
        let script = """
            if [ $1 = share ]; then cp $2 $3; sqlite3 $2 "$fence"; exit; fi
            mv $3 $3.withdrawn; echo $3.withdrawn; : > $3; sqlite3 $2 "DROP TRIGGER f"
            """
        let unshare = WalkStep.tool(.init(["unshare", "{0}", "{1}"]))
        let copy = WalkStep.copy(from: 0, to: 1)
        #expect(try violations(script, [Self.share, unshare, copy, .app(place: 1, .vacuum)]) == [])
    }

    private static let publish = WalkStep.tool(.init(["publish", "{0}", "{snapshot}"]))
    private static let soundPublish = "rm -f $3; sqlite3 $2 \"VACUUM INTO '$3'\"; chmod 444 $3"

    @Test("A publication of the whole store, and one of a changed store, break no rule")
    func soundPublication() throws {
        let change = WalkStep.app(place: 0, .update(table: 0, pick: 0, token: 3, seed: 3))
        #expect(try violations(Self.soundPublish, [Self.publish, change, Self.publish]) == [])
    }

    @Test(
        "Each mistake of a publication breaks its rule",
        arguments: [
            (
                soundPublish + "; sqlite3 $3 'delete from item where id = 1'",
                "L4 publish claims success, and the snapshot differs"
            ),
            (soundPublish + "; chmod 644 $3", "L4 the snapshot is writable"),
            (soundPublish + "; sqlite3 $3 'PRAGMA journal_mode = wal'", "L4 the snapshot is not in rollback mode"),
            ("exit 0", "L4 publish claims success, and there is no snapshot"),
            (soundPublish + "; sqlite3 $2 'delete from item where id = 1'", "L5 publish changed the store"),
            ("sqlite3 $2 \"VACUUM INTO '$3'\"; chmod 444 $3; rm $2", "L1 … is nowhere"),
        ]
    )
    func mistakenPublication(script: String, expected: String) throws {
        let found = try violations(script, [Self.publish])
        #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
    }

    @Test("A share that takes a snapshot for a store, and one that replaces it, break a rule")
    func confusedSnapshot() throws {
        let share = WalkStep.tool(.init(["share", "{0}", "{snapshot}"]))
        let script = "if [ $1 = publish ]; then \(Self.soundPublish); exit; fi; "
        let found = try violations(script + "rm $3; cp $2 $3; sqlite3 $3 'delete from item'", [Self.publish, share])
        #expect(found.contains("L5 share changed the snapshot"), "\(found)")
        #expect(found.contains("L4 share took the snapshot for a store"), "\(found)")
    }

    private static func share(under failure: WalkStep.Failure) -> WalkStep {
        .tool(.init(["share", "{0}", "{1}"], harm: .failed(call: 0, failure)))
    }

    @Test("A share that ends with status 14 on a full disk breaks no rule")
    func fullDisk() throws {
        let script = "cp $2 $3 2>/dev/null && exit 0; rm -f $3; echo no space; exit 14"
        #expect(try violations(script, [Self.share(under: .fullDisk)]) == [])
    }

    @Test(
        "Each mistake of a command whose file calls fail breaks its rule",
        arguments: [
            (.fullDisk, "cp $2 $3; exit 1", "status it ended with … under fullDisk"),
            (.fullDisk, "cp $2 $3; exit 5", "status it ended with … under fullDisk"),
            (.inputOutputError, "cat $2 >/dev/null; exit 14", "status it ended with … under inputOutputError"),
            (.inputOutputError, "cat $2 >/dev/null; exit 10", "status it ended with … under inputOutputError"),
            (.halfTransfers, "dd if=$2 of=$2.copy bs=64k; exit 1", "status it ended with … under halfTransfers"),
            (
                .inputOutputError, "cat $2; sqlite3 $2 \"update item set token = 'v000009' where id = 1\"; exit 4",
                "L4 it ended with …"
            ),
            (.inputOutputError, "cat $2 && exit 4; cp $2 $3", "L4 the old store at … still takes writes"),
        ] as [(WalkStep.Failure, String, String)]
    )
    func mistakenFailure(failure: WalkStep.Failure, script: String, expected: String) throws {
        let found = try violations(script, [Self.share(under: failure)])
        #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
    }

    @Test(
        "A declined share that changes something breaks a rule, and so does one that fails without a reason",
        arguments: [
            ("echo declined; exit 130", "--confirm {declines}", ""), ("echo no; exit 1", "--confirm {dies}", ""),
            ("echo no; exit 1", "--resolver {fails}", ""),
            ("cp $2 $3; sqlite3 $2 \"$fence\"", "--confirm {accepts}", ""),
            ("cp $2 $3; sqlite3 $2 \"$fence\"", "--confirm {declines}", "L5 share was declined, and changed a/s.db"),
            ("cp $2 $3; echo no; exit 130", "--confirm {declines}", "L5 share was declined, and changed b/s.db"),
            (": > $3.staged; echo no; exit 1", "--confirm {dies}", "L5 share was declined, and changed b/s.db.staged"),
            ("echo no; exit 130", "--confirm {accepts}", "status it ended with 130"),
            ("echo no; exit 1", "--resolver {takesOld}", "status it ended with 1"),
            (
                "sqlite3 $2 \"update item set token = 'v000009' where id = 1\"; echo no; exit 1", "--resolver {fails}",
                "L4 it ended with 1"
            ),
        ]
    )
    func decisions(script: String, options: String, expected: String) throws {
        let share = WalkStep.tool(.init(["share", "{0}", "{1}"] + options.split(separator: " ").map(String.init)))
        let found = try texts(script, [share])
        #expect(expected.isEmpty ? found == [] : found.contains { $0.hasPrefix(expected) }, "\(found)")
    }

    @Test(
        "A cleaning that removes the last copy of a row, writes with -n or reports wrongly breaks a rule",
        arguments: [
            ("", "", ""), ("rm $2.withdrawn", "", "L1 v000003 is nowhere"),
            (": > $2.new", "-n", "L5 clean -n may write nothing, and changed b/s.db.new"),
            (
                #"echo "{\"type\":\"leftover\",\"path\":\"$2.withdrawn\",\"state\":\"removed\"}""#, "",
                "L4 clean says removed of what is there"
            ),
            (
                #"echo "{\"type\":\"leftover\",\"path\":\"$2.other\",\"state\":\"kept\"}""#, "",
                "L4 clean says kept of what is not there"
            ),
            ("sqlite3 ${2%b/s.db}a/s.db \"update item set x = 'other'\"", "", "L5 clean changed the store at a/s.db"),
        ]
    )
    func cleanings(script: String, option: String, expected: String) throws {
        // The withdrawn store alone has a row.
        let tool = """
            case $1 in
            share) cp $2 $3; sqlite3 $2 "$fence";;
            unshare) mv $3 $3.withdrawn; echo $3.withdrawn; sqlite3 $2 'DROP TRIGGER f';;
            clean) \(script.isEmpty ? ":" : script);;
            esac
            """
        let steps: [WalkStep] = [
            Self.share, .app(place: 1, .insert(table: 0, token: 3, seed: 3)),
            .tool(.init(["unshare", "{0}", "{1}"])), .tool(.init(["clean", "{1}"] + (option.isEmpty ? [] : [option]))),
        ]
        let found = try texts(tool, steps)
        #expect(expected.isEmpty ? found == [] : found.contains { $0.hasPrefix(expected) }, "\(found)")
    }

    @Test("A failing walk is shrunk to the steps that it needs")
    func shrinking() throws {
        let place = try TemporaryDirectory(prefix: "walk-tests")
        let program = place.directory.path + "/tool"
        try "#!/bin/sh\n[ $1 != share ] || sqlite3 $2 'delete from item'\n"
            .write(toFile: program, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        let noise: [WalkStep] = [
            .app(place: 0, .vacuum), .tool(.init(["status", "{0}", "{1}", "--json"])),
            .app(place: 0, .update(table: 0, pick: 1, token: 3, seed: 4)), .app(place: 0, .checkpoint),
        ]
        let share = WalkStep.tool(.init(["share", "{0}", "{1}", "--old", "capture", "--json"]))
        let failing = try Walk.replay(Self.beginning + noise + [share], in: Self.setting, program: program)
        let shrunk = try WalkShrinker.shrunk(failing, until: Deadline(after: .seconds(60)))
        #expect(shrunk.violations.first?.rule == failing.violations.first?.rule)
        #expect(shrunk.steps == [Self.beginning[0], Self.beginning[1], Self.share])
    }
}
