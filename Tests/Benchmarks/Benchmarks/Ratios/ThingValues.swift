import Foundation
import ManagedObjects

/// The values of a new thing, for our save and the peer's.
struct ThingValues {
    let number: Int64
    let name: String
    let note: String
    let isEven: Bool
    let at: Date
    let weight: Double

    init(_ index: Int) {
        number = Int64(index)
        name = "new thing number \(index)"
        note = "a note as people write them, about \(index)"
        isEven = index % 2 == 0
        at = Date(timeIntervalSinceReferenceDate: 700_000_000.25 + Double(index))
        weight = Double(index) * 0.5
    }

    /// Makes `count` things in a context.
    static func insert(_ count: Int, into context: isolated ManagedObjectContext) throws {
        for index in 0..<count {
            let values = ThingValues(index)
            let thing = try context.insertNewObject(forEntityName: "Thing")
            try thing.setValue(values.number, forKey: "number")
            try thing.setValue(values.name, forKey: "name")
            try thing.setValue(values.note, forKey: "note")
            try thing.setValue(values.isEven, forKey: "isEven")
            try thing.setValue(values.at, forKey: "at")
            try thing.setValue(values.weight, forKey: "weight")
        }
    }
}
