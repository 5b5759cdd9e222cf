import SafeFiles

/// A judge that distinguishes what a member of the group may damage from what no member can reach.
package protocol NeighbourJudge: Judge {
    /// The folder that the group's members share.
    var container: String { get }
    var template: StoreTemplate { get }
    /// The name of the file in it that a neighbour attacks.
    var target: String { get }
    /// The acts of a neighbour that apply to the target.
    var acts: [Neighbour.Act] { get }
    /// Objections to the files outside the container.
    func objectionsOutside(_ scratch: Scratch) throws -> [String]
    /// Objections to the files in the container, if the command claims to have proved them.
    func objectionsToClaim(_ scratch: Scratch) throws -> [String]
    /// True if the output claims a proof; a run without work checks names and times only.
    func isClaim(_ lines: [String]) -> Bool
}

extension NeighbourJudge {
    package var container: String { "group" }
    package var target: String { template.name }
    package var acts: [Neighbour.Act] { Neighbour.Act.allCases }

    package func isClaim(_ lines: [String]) -> Bool {
        lines.contains { $0.contains("proved:") && !$0.contains("proved: nothing") }
    }
}

extension ShareJudge: NeighbourJudge {
    package func objectionsOutside(_ scratch: Scratch) throws -> [String] { try objectionsToOld(scratch) }

    package func objectionsToClaim(_ scratch: Scratch) throws -> [String] {
        guard try scratch.root.openDirectory(container).status(of: template.name)?.kind == .regular else {
            return ["no file stands at the new place"]
        }
        return try objectionsToNew(scratch)
    }
}

extension MergeJudge: NeighbourJudge {
    package func objectionsOutside(_ scratch: Scratch) throws -> [String] {
        let old: [String]
        do { old = try objects(in: "old", template.name, scratch) } catch {
            return ["the old path has another store, or an unreadable file: \(error)"]
        }
        if old == oldBefore || isReverseShare && old == merged { return [] }
        // The new store returns with the neighbour's changes; the old content is displaced, complete.
        let folder = try scratch.root.openDirectory("old")
        let isKept =
            try isReverseShare
            && folder.entries()
                .contains { name in
                    guard name.hasPrefix(".store-migrate-aside-") else { return false }
                    return try objects(in: folder.openDirectory(name), template.name, scratch) == oldBefore
                }
        return isKept ? [] : ["the old store holds \(old)"]
    }

    package func objectionsToClaim(_ scratch: Scratch) throws -> [String] {
        guard !isReverseShare else { return [] }
        guard try scratch.root.openDirectory(container).status(of: template.name)?.kind == .regular else {
            return ["no file stands at the new place"]
        }
        let new = try objects(in: container, template.name, scratch)
        // Where the neighbour had removed the shared store, the old one was shared again with its content.
        return [merged, oldBefore].contains(new) ? [] : ["the new store holds \(new)"]
    }
}

extension RestoreJudge: NeighbourJudge {
    package func objectionsOutside(_ scratch: Scratch) throws -> [String] { try objectionsToArchive(scratch) }

    package func isClaim(_ lines: [String]) -> Bool { true }

    package func objectionsToClaim(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory(container)
        switch try folder.status(of: template.name)?.kind {
        case .regular: return try objectionsToPlace(scratch)
        case .directory:
            // A folder as the destination gets the store under its own name, which is reported.
            let inside = try folder.openDirectory(template.name)
            guard try inside.status(of: template.name)?.kind == .regular else { break }
            let content = try share.content(of: template.name, in: inside, scratch, withoutFence: false)
            return content == template.content ? [] : ["the store in the folder at the place differs"]
        default: break
        }
        return ["no file stands at the place"]
    }
}

extension RelayDrainJudge: NeighbourJudge {
    /// The relay is beside the shared store.
    package var container: String { "old" }
    package var target: String { relay }
    package var acts: [Neighbour.Act] {
        [
            .removesTheStore, .removesEverything, .putsGarbageInItsPlace, .putsAnotherStoreInItsPlace,
            .putsAFolderInItsPlace, .putsAFIFOInItsPlace, .linksItToTheOldStore, .linksItToATreasure, .linksItToItself,
            .givesItASecondName, .plantsSidecars, .plantsLinkedSidecars, .linksTheLocks, .renamesEverything,
        ]
    }

    /// No act on the relay reaches the store beside it: its files are unchanged, byte by byte.
    package func objectionsOutside(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory(container)
        let store = template.files.filter { $0.key.hasPrefix(template.name) }
        let surplus = try folder.entries()
            .filter { $0.hasPrefix(template.name) && store[$0] == nil && $0 != template.name + "-shm" }
        let touched = try store.filter { name, bytes in try folder.bytes(of: name) != bytes }.keys.sorted()
        let lost = try template.externalFilesLost(in: folder)
        return touched.map { "\($0) of the store was touched" }
            + lost.map { "an external file of the store is missing or differs: \($0)" }
            + (surplus.isEmpty ? [] : ["left beside the store: \(surplus)"])
    }

    /// A successful run has found a relay or made one.
    ///
    /// Notices that a neighbour removes are lost; no notice is invented.
    package func objectionsToClaim(_ scratch: Scratch) throws -> [String] {
        let strange = try drainedPlaces(scratch).subtracting(Self.places).sorted()
        var objections = strange.isEmpty ? [] : ["\(strange) were never posted"]
        let folder = try scratch.root.openDirectory(container)
        switch try folder.status(of: relay)?.kind {
        case nil: break
        case .regular:
            let tables = try scratch.withCopy(of: relay, in: folder) { try $0.tables() }
            if !Set(tables).isSuperset(of: ["notice", "consumer"]) { objections.append("the relay is another file") }
        default: objections.append("no file stands in the relay's place")
        }
        return objections
    }
}
