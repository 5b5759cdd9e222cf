import Foundation
import StoreFormat

/// A model with large values in files and with members that must have an owner.
enum Warehouse {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Box",
            attributes: [
                AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "picture", type: .binaryData, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                RelationshipDescription(
                    name: "parts",
                    destination: "Part",
                    inverse: "box",
                    maxCount: 0,
                    isOrdered: true
                )
            ]
        ),
        EntityDescription(
            name: "Part",
            attributes: [AttributeDescription(name: "name", type: .string)],
            relationships: [
                RelationshipDescription(name: "box", destination: "Box", inverse: "parts", isOptional: false)
            ]
        ),
    ])

    /// A value large enough for an external file.
    static func picture(_ byte: UInt8) -> Data { Data(repeating: byte, count: 200_000) }
}
