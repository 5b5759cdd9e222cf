/// The meaning of each bit of a change's bitmap (`ACHANGE.ZCOLUMNS`), in one entity of one model.
package struct HistorySlots: Hashable, Sendable {
    /// The meaning of one bit.
    package enum Slot: Hashable, Sendable {
        /// The property of that name; one property may have several bits.
        case property(String)
        /// A key that belongs to a to-many relationship of another entity, which has no inverse here.
        case hidden
        /// One of the one-to-many relationships; known exactly only if there is just one.
        case oneToMany
        /// One of the many-to-many relationships; known exactly only if there is just one.
        case manyToMany
    }

    /// The slots in the order of the bits.
    package let slots: [Slot]
    package let oneToMany: [String]
    package let manyToMany: [String]
    /// False if columns of properties are missing, so that their number of bits is unknown.
    package let isComplete: Bool

    package init(
        foreignKeys: [String?] = [],
        entityColumns: [String?] = [],
        orderColumns: [String?] = [],
        attributes: [String] = [],
        oneToMany: [String] = [],
        manyToMany: [String] = [],
        isComplete: Bool = true
    ) {
        let named = foreignKeys + entityColumns + orderColumns + attributes
        slots =
            named.map { $0.map(Slot.property) ?? .hidden }
            + oneToMany.map { _ in .oneToMany } + manyToMany.map { _ in .manyToMany }
        self.oneToMany = oneToMany
        self.manyToMany = manyToMany
        self.isComplete = isComplete
    }

    package var count: Int { slots.count }

    /// The length of every bitmap of this entity; nil if not all slots are known.
    package var byteCount: Int? { isComplete ? (slots.count + 7) / 8 : nil }

    /// Decodes a bitmap; nil if its length, or a bit beyond the last slot, shows that it is not of this entity.
    ///
    /// Also nil if not all slots are known.
    package func properties(in bitmap: [UInt8]) -> ChangedProperties? {
        guard bitmap.count == byteCount else { return nil }
        var names: [String] = []
        var possible: [String] = []
        for bit in 0..<bitmap.count * 8 where bitmap[bit / 8] & (0x80 >> UInt8(bit % 8)) != 0 {
            guard slots.indices.contains(bit) else { return nil }
            switch slots[bit] {
            case .property(let name): names.append(name)
            case .hidden: break
            case .oneToMany: oneToMany.count == 1 ? names.append(oneToMany[0]) : possible.append(contentsOf: oneToMany)
            case .manyToMany:
                manyToMany.count == 1 ? names.append(manyToMany[0]) : possible.append(contentsOf: manyToMany)
            }
        }
        return ChangedProperties(
            names: Set(names).sorted(by: ManagedObjectModel.inByteOrder),
            possibleToMany: Set(possible).sorted(by: ManagedObjectModel.inByteOrder)
        )
    }

    /// The bitmap of a change to these properties.
    ///
    /// If the bit of a to-many relationship is unknown, every bit of its half is set: a surplus bit is harmless.
    package func bitmap(of properties: Set<String>) -> [UInt8] {
        var changed = Set(properties.map(Slot.property))
        if !properties.isDisjoint(with: oneToMany) { changed.insert(.oneToMany) }
        if !properties.isDisjoint(with: manyToMany) { changed.insert(.manyToMany) }
        return bitmap(setting: changed)
    }

    /// The bitmap in which every bit of these kinds is set, the most significant bit of a byte first.
    package func bitmap(setting changed: Set<Slot>) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: (slots.count + 7) / 8)
        for (bit, slot) in slots.enumerated() where changed.contains(slot) {
            result[bit / 8] |= 0x80 >> UInt8(bit % 8)
        }
        return result
    }
}

/// The properties that an update changed, according to history.
package struct ChangedProperties: Hashable, Sendable {
    /// The changed properties, in byte order.
    package let names: [String]
    /// To-many relationships of which at least one changed; history does not record which.
    package let possibleToMany: [String]

    package init(names: [String], possibleToMany: [String] = []) {
        self.names = names
        self.possibleToMany = possibleToMany
    }
}
