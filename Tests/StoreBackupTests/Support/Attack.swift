import Testing

/// A hostile archive, made by changing a correct one.
struct Attack: Sendable, CustomTestStringConvertible {
    /// The members of a correct archive.
    struct Right: Sendable {
        let manifest: [UInt8]
        let main: [UInt8]
    }

    private static let main = "store.sqlite"

    let testDescription: String
    let write: @Sendable (inout HandMadeTar, Right) -> Void

    init(_ name: String, _ write: @escaping @Sendable (inout HandMadeTar, Right) -> Void) {
        testDescription = name
        self.write = write
    }

    /// The archive of a small store, changed by the attack.
    func archive() throws -> [UInt8] {
        let (world, archive) = try BackupWorld.small()
        let members = try world.members(of: archive)
        var tar = HandMadeTar()
        write(&tar, Right(manifest: members[0].bytes, main: members[1].bytes))
        tar.end()
        return tar.bytes
    }

    /// The unchanged archive.
    static let none = Attack("none") { $0.whole($1) }

    static let all: [Attack] = [
        Attack("an absolute name") {
            $0.good($1)
            $0.add("/tmp/planted", $1.main)
        },
        Attack("a path that goes up") {
            $0.good($1)
            $0.add("../planted", $1.main)
        },
        Attack("a path that goes down and up") {
            $0.good($1)
            $0.add("a/../../planted", $1.main)
        },
        Attack("a path that goes up in its prefix") {
            $0.good($1)
            $0.add("planted", $1.main, prefix: "../..")
        },
        Attack("a symbolic link in the main file's place") {
            $0.good($1)
            $0.add(main, type: "2", link: "/etc/passwd")
        },
        Attack("a symbolic link beside it") {
            $0.whole($1)
            $0.add("l", type: "2", link: "/etc")
        },
        Attack("a hard link in its place") {
            $0.good($1)
            $0.add(main, type: "1", link: "/etc/passwd")
        },
        Attack("a hard link with content") {
            $0.good($1)
            $0.add(main, $1.main, type: "1", link: "manifest.json")
        },
        Attack("a character device") {
            $0.good($1)
            $0.add(main, type: "3")
        },
        Attack("a block device") {
            $0.good($1)
            $0.add(main, type: "4")
        },
        Attack("a folder in the main file's place") {
            $0.good($1)
            $0.add(main, type: "5")
        },
        Attack("a folder beside it") {
            $0.whole($1)
            $0.add("folder/", type: "5")
        },
        Attack("a FIFO") {
            $0.good($1)
            $0.add(main, type: "6")
        },
        Attack("a contiguous file of another size") {
            $0.good($1)
            $0.add(main, [1], type: "7")
        },
        Attack("an unknown kind") {
            $0.good($1)
            $0.add(main, $1.main, type: "V")
        },
        Attack("a file that runs as its owner") {
            $0.good($1)
            $0.add(main, $1.main, mode: 0o4755)
        },
        Attack("a file that runs as its group") {
            $0.good($1)
            $0.add(main, $1.main, mode: 0o2755)
        },
        Attack("a sticky file") {
            $0.good($1)
            $0.add(main, $1.main, mode: 0o1644)
        },
        Attack("a terabyte, by its header") {
            $0.good($1)
            $0.add(main, $1.main, size: 1 << 40)
        },
        Attack("a size out of range") {
            $0.good($1)
            $0.add(main, $1.main, size: .max)
        },
        Attack("a negative size") {
            $0.good($1)
            $0.add(main, $1.main, size: -1)
        },
        Attack("a sparse terabyte") {
            $0.good($1)
            $0.addExtended([
                ("GNU.sparse.major", "0"), ("GNU.sparse.minor", "1"), ("GNU.sparse.name", main),
                ("GNU.sparse.size", "1099511627776"), ("GNU.sparse.map", "0,0,1099511627776,0"),
            ])
            $0.add(main, $1.main)
        },
        Attack("holes that make the right size") {
            $0.good($1)
            $0.addExtended([
                ("GNU.sparse.major", "0"), ("GNU.sparse.minor", "1"), ("GNU.sparse.name", main),
                ("GNU.sparse.size", "\($1.main.count)"), ("GNU.sparse.map", "0,512,\($1.main.count),0"),
            ])
            $0.add(main, Array($1.main.prefix(512)))
        },
        Attack("another name in an extended header") {
            $0.good($1)
            $0.addExtended([("path", "../../planted")])
            $0.add(main, $1.main)
        },
        Attack("a link in an extended header") {
            $0.good($1)
            $0.addExtended([("linkpath", "/etc/passwd")])
            $0.add(main, $1.main, type: "2")
        },
        Attack("an extended attribute") {
            $0.good($1)
            $0.addExtended([("SCHILY.xattr.user.x", "1")])
            $0.add(main, $1.main)
        },
        Attack("an access list") {
            $0.good($1)
            $0.addExtended([("SCHILY.acl.access", "user::rwx,group::rwx,other::rwx,user:0:rwx,mask::rwx")])
            $0.add(main, $1.main)
        },
        Attack("the main file twice") {
            $0.good($1)
            $0.add(main, $1.main)
            $0.add(main, $1.main)
        },
        Attack("the manifest twice") {
            $0.good($1)
            $0.good($1)
            $0.add(main, $1.main)
        },
        Attack("the main file under a name in capitals") {
            $0.good($1)
            $0.add("STORE.SQLITE", $1.main)
        },
        Attack("a second one in capitals") {
            $0.whole($1)
            $0.add("STORE.SQLITE", $1.main)
        },
        Attack("a planted log") {
            $0.whole($1)
            $0.add(main + "-wal", $1.main)
        },
        Attack("a planted journal before it") {
            $0.good($1)
            $0.add(main + "-journal", $1.main)
            $0.add(main, $1.main)
        },
        Attack("a name with a line feed and an escape") {
            $0.good($1)
            $0.add("a\n\u{1B}[2J", $1.main)
        },
        Attack("a name that is no UTF-8") { tar, right in
            tar.good(right)
            tar.addExtended([("hdrcharset", "BINARY")])
            tar.add("caf\u{FFFD}", right.main)
        },
        Attack("a main file that is too short") {
            $0.good($1)
            $0.add(main, Array($1.main.dropLast(512)))
        },
        Attack("a main file that is too long") {
            $0.good($1)
            $0.add(main, $1.main + $1.main)
        },
        Attack("a main file of other bytes") {
            $0.good($1)
            $0.add(main, $1.main.map { $0 ^ 1 })
        },
        Attack("no main file") { $0.good($1) },
        Attack("no manifest") { $0.add(main, $1.main) },
        Attack("the manifest last") {
            $0.add(main, $1.main)
            $0.good($1)
        },
        Attack("a manifest beyond its limit") { tar, _ in tar.add("manifest.json", [0x7B], size: 1 << 30) },
        Attack("a manifest that is a link") { tar, _ in tar.add("manifest.json", type: "2", link: "/etc/passwd") },
        Attack("a manifest of brackets") { tar, _ in
            tar.add("manifest.json", [UInt8](repeating: 0x5B, count: 1 << 20))
        },
        Attack("an empty manifest") { tar, _ in tar.add("manifest.json") },
        Attack("nothing") { _, _ in },
    ]
}

extension HandMadeTar {
    /// Adds a correct manifest.
    mutating func good(_ right: Attack.Right) { add("manifest.json", right.manifest) }

    /// Adds all members of a correct archive.
    mutating func whole(_ right: Attack.Right) {
        good(right)
        add("store.sqlite", right.main)
    }
}
