import CTestSupport
import Foundation
import Glibc
import SafeFiles
import SystemPackage

/// Another user who may write to the container, and does whatever that allows.
package struct Neighbour: Sendable {
    /// What the neighbour does.
    package enum Act: String, CaseIterable, Sendable {
        case removesTheStore, removesEverything
        case putsGarbageInItsPlace, putsAnotherStoreInItsPlace, putsAFolderInItsPlace, putsAFIFOInItsPlace
        case linksItToTheOldStore, linksItToATreasure, linksItToItself, givesItASecondName
        case plantsSidecars, plantsLinkedSidecars, linksTheReceipt, linksTheReplacementOfTheReceipt
        case linksTheExternalFiles, linksTheirInnerFolder, stealsTheirFolder
        case stealsTheNest, linksTheNest, renamesEverything
    }

    /// The owner of the old store, and the group to which both belong.
    package static let owner: UInt32 = 64_001
    package static let group: UInt32 = 64_100
    private static let user: UInt32 = 64_002

    let container: String
    let storeName: String
    /// The old store.
    let oldStore: String
    /// A folder of somebody else's, with files in it.
    let treasury: String
    /// A whole store of another content.
    let otherStore: [UInt8]

    private var store: String { container + "/" + storeName }
    private var supportName: String { "." + (storeName as NSString).deletingPathExtension + "_SUPPORT" }
    private var support: String { container + "/" + supportName }
    private var receipt: String { "\(container)/.\(storeName).store-migrate.json" }

    /// Acts on a thread that is the neighbour; what is refused is refused.
    func act(_ act: Act) {
        let end = DispatchSemaphore(value: 0)
        Thread {
            if ctest_become_user(Self.user, Self.group) == 0 { perform(act) }
            end.signal()
        }
        .start()
        end.wait()
    }

    private func perform(_ act: Act) {
        switch act {
        case .removesTheStore: unlink(store)
        case .removesEverything: for name in names { remove(container + "/" + name) }
        case .putsGarbageInItsPlace: put([UInt8](repeating: 0x5A, count: 8192), at: store)
        case .putsAnotherStoreInItsPlace: put(otherStore, at: store)
        case .putsAFolderInItsPlace:
            stealing(store)
            mkdir(store, 0o777)
        case .putsAFIFOInItsPlace:
            stealing(store)
            mkfifo(store, 0o666)
        case .linksItToTheOldStore: replace(store, withLinkTo: oldStore)
        case .linksItToATreasure: replace(store, withLinkTo: treasury + "/treasure")
        case .linksItToItself:
            stealing(store)
            symlink(stolen(store), store)
        case .givesItASecondName: link(store, container + "/second")
        case .plantsSidecars:
            for suffix in ["-wal", "-journal", "-shm"] {
                put([UInt8](repeating: 0x37, count: 4096), at: store + suffix)
            }
        case .plantsLinkedSidecars:
            for suffix in ["-wal", "-journal", "-shm"] {
                replace(store + suffix, withLinkTo: treasury + "/treasure")
            }
        case .linksTheReceipt: replace(receipt, withLinkTo: treasury + "/treasure")
        case .linksTheReplacementOfTheReceipt: replace(receipt + ".new", withLinkTo: treasury + "/treasure")
        case .linksTheExternalFiles: replace(support, withLinkTo: treasury)
        case .linksTheirInnerFolder:
            stealing(support)
            mkdir(support, 0o777)
            symlink(treasury, support + "/_EXTERNAL_DATA")
        case .stealsTheirFolder: stealing(support)
        case .stealsTheNest:
            for nest in nests {
                stealing(nest)
                mkdir(nest, 0o700)
            }
        case .linksTheNest: for nest in nests { replace(nest, withLinkTo: treasury) }
        case .renamesEverything: for name in names { stealing(container + "/" + name) }
        }
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: container)) ?? []).filter { !$0.hasPrefix("stolen-") }
    }
    private var nests: [String] { names.filter { $0.hasPrefix(".store-migrate-") }.map { container + "/" + $0 } }

    private func remove(_ path: String) {
        if unlink(path) != 0 { rmdir(path) }
    }

    private func stolen(_ path: String) -> String { container + "/stolen-" + (path as NSString).lastPathComponent }

    private func stealing(_ path: String) { rename(path, stolen(path)) }

    private func replace(_ path: String, withLinkTo target: String) {
        stealing(path)
        symlink(target, path)
    }

    private func put(_ bytes: [UInt8], at path: String) {
        let made = container + "/stolen-made"
        guard (try? Data(bytes).write(to: URL(fileURLWithPath: made))) != nil else { return }
        chmod(made, 0o666)
        rename(made, path)
    }
}
