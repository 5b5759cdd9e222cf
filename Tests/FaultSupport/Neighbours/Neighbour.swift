import CTestSupport
import Foundation
import Glibc
import SafeFiles
import Synchronization
import SystemPackage

/// Another user who may write to the container, and does everything that this permits.
package struct Neighbour: Sendable {
    /// An act of the neighbour.
    package enum Act: String, CaseIterable, Sendable {
        case removesTheStore, removesEverything
        case putsGarbageInItsPlace, putsAnotherStoreInItsPlace, putsAFolderInItsPlace, putsAFIFOInItsPlace
        case linksItToTheOldStore, linksItToATreasure, linksItToItself, givesItASecondName
        case plantsSidecars, plantsLinkedSidecars, linksTheReceipt, linksTheReplacementOfTheReceipt
        case linksTheExternalFiles, linksTheirInnerFolder, stealsTheirFolder
        case stealsTheStagingFolder, linksTheStagingFolder, linksTheLocks, renamesEverything
    }

    /// The thread could not become another user, and did nothing.
    package struct NotSomebodyElse: Error {}

    /// The owner of the old store, and the group to which both belong.
    package static let owner: UInt32 = 64_001
    package static let group: UInt32 = 64_100
    private static let user: UInt32 = 64_002

    let container: String
    /// The name of the file that the neighbour attacks.
    let storeName: String
    /// The prefix of all other names that the neighbour attacks.
    let reach: String
    /// The old store.
    let oldStore: String
    /// A folder of a third user, with files in it.
    let treasury: String
    /// A complete store with other content.
    let otherStore: [UInt8]

    private var store: String { container + "/" + storeName }
    private var supportName: String { "." + (storeName as NSString).deletingPathExtension + "_SUPPORT" }
    private var support: String { container + "/" + supportName }
    private var receipt: String { "\(container)/.\(storeName).store-migrate.json" }

    /// Acts on a thread with the neighbour's user; refused calls are ignored.
    ///
    /// Returns false if it had no effect.
    func act(_ act: Act) throws -> Bool {
        let outcome = Mutex<Bool?>(nil)
        let end = DispatchSemaphore(value: 0)
        Thread {
            if ctest_become_user(Self.user, Self.group) == 0 {
                let isDone = perform(act)
                outcome.withLock { $0 = isDone }
            }
            end.signal()
        }
        .start()
        end.wait()
        guard let isDone = outcome.withLock({ $0 }) else { throw NotSomebodyElse() }
        return isDone
    }

    private func perform(_ act: Act) -> Bool {
        switch act {
        case .removesTheStore: return unlink(store) == 0
        case .removesEverything: return any(names.map { remove(container + "/" + $0) })
        case .putsGarbageInItsPlace: return put([UInt8](repeating: 0x5A, count: 8192), at: store)
        case .putsAnotherStoreInItsPlace: return put(otherStore, at: store)
        case .putsAFolderInItsPlace:
            stealing(store)
            return mkdir(store, 0o777) == 0
        case .putsAFIFOInItsPlace:
            stealing(store)
            return mkfifo(store, 0o666) == 0
        case .linksItToTheOldStore: return replace(store, withLinkTo: oldStore)
        case .linksItToATreasure: return replace(store, withLinkTo: treasury + "/treasure")
        case .linksItToItself: return replace(store, withLinkTo: stolen(store))
        case .givesItASecondName: return link(store, container + "/second") == 0
        case .plantsSidecars: return any(sidecars.map { put([UInt8](repeating: 0x37, count: 4096), at: $0) })
        case .plantsLinkedSidecars: return any(sidecars.map { replace($0, withLinkTo: treasury + "/treasure") })
        case .linksTheReceipt: return replace(receipt, withLinkTo: treasury + "/treasure")
        case .linksTheReplacementOfTheReceipt: return replace(receipt + ".new", withLinkTo: treasury + "/treasure")
        case .linksTheExternalFiles: return replace(support, withLinkTo: treasury)
        case .linksTheirInnerFolder:
            stealing(support)
            return mkdir(support, 0o777) == 0 && symlink(treasury, support + "/_EXTERNAL_DATA") == 0
        case .stealsTheirFolder: return stealing(support)
        case .stealsTheStagingFolder: return any(nests.map { stealing($0) && mkdir($0, 0o700) == 0 })
        case .linksTheStagingFolder: return any(nests.map { replace($0, withLinkTo: treasury) })
        case .linksTheLocks:
            let locks = names.filter { $0.hasSuffix(".lock") }
            return any(locks.map { replace(container + "/" + $0, withLinkTo: treasury + "/treasure") })
        case .renamesEverything: return any(names.map { stealing(container + "/" + $0) })
        }
    }

    /// True if any of several calls had an effect.
    private func any(_ deeds: [Bool]) -> Bool { deeds.contains(true) }

    private var sidecars: [String] { ["-wal", "-journal", "-shm"].map { store + $0 } }
    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: container)) ?? [])
            .filter { !$0.hasPrefix("stolen-") && (reach.isEmpty || $0.hasPrefix(reach)) }
    }
    private var nests: [String] { names.filter { $0.hasPrefix(".store-migrate-") }.map { container + "/" + $0 } }

    private func remove(_ path: String) -> Bool { unlink(path) == 0 || rmdir(path) == 0 }

    private func stolen(_ path: String) -> String { container + "/stolen-" + (path as NSString).lastPathComponent }

    @discardableResult
    private func stealing(_ path: String) -> Bool { rename(path, stolen(path)) == 0 }

    private func replace(_ path: String, withLinkTo target: String) -> Bool {
        stealing(path)
        return symlink(target, path) == 0
    }

    private func put(_ bytes: [UInt8], at path: String) -> Bool {
        let made = container + "/stolen-made"
        guard (try? Data(bytes).write(to: URL(fileURLWithPath: made))) != nil else { return false }
        chmod(made, 0o666)
        return rename(made, path) == 0
    }
}
