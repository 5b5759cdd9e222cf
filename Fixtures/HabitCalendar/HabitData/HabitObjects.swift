// The classes of HabitCalendar.yaml. GenerateManagedObjects writes this file; change the model instead.

public import Foundation
public import ManagedObjects

/// The entity DaysChallenge.
open class DaysChallenge: ManagedObject, TypedObject {
    open class var entityName: String { "DaysChallenge" }
    open class var modelClasses: [any TypedObject.Type] { allClasses }
    override open class var plainClass: ManagedObject.Type { DaysChallenge.self }
    open class var properties: [TypedProperty] { properties(of: DaysChallenge.self) }

    final public var fromDate: Date {
        get { self[mandatory: "fromDate"] }
        set { self[mandatory: "fromDate"] = newValue }
    }

    final public var isClosed: Bool {
        get { self[mandatory: "isClosed"] }
        set { self[mandatory: "isClosed"] = newValue }
    }

    final public var toDate: Date {
        get { self[mandatory: "toDate"] }
        set { self[mandatory: "toDate"] = newValue }
    }

    final public var days: Set<HabitDay> {
        get { self[toMany: "days"] }
        set { self[toMany: "days"] = newValue }
    }

    final public var habit: Habit? {
        get { self[toOne: "habit"] }
        set { self[toOne: "habit"] = newValue }
    }

    /// The properties, with key paths from this class or from a subclass that an app registers.
    public final class func properties<Subclass: DaysChallenge>(of type: Subclass.Type) -> [TypedProperty] {
        let list: [TypedProperty] = [
            TypedProperty(mandatory: "fromDate", \Subclass.fromDate, \Subclass?.?.fromDate),
            TypedProperty(mandatory: "isClosed", \Subclass.isClosed, \Subclass?.?.isClosed),
            TypedProperty(mandatory: "toDate", \Subclass.toDate, \Subclass?.?.toDate),
            TypedProperty(
                toMany: "days",
                \Subclass.days,
                \Subclass?.?.days,
                count: \Subclass.days.count,
                \Subclass?.?.days.count
            ),
            TypedProperty(toOne: "habit", \Subclass.habit, \Subclass?.?.habit),
        ]
        return list
    }
}

/// The entity Habit.
///
/// Unique: `id`.
open class Habit: ManagedObject, TypedObject {
    open class var entityName: String { "Habit" }
    open class var modelClasses: [any TypedObject.Type] { allClasses }
    override open class var plainClass: ManagedObject.Type { Habit.self }
    open class var properties: [TypedProperty] { properties(of: Habit.self) }

    final public var colour: String? {
        get { self[attribute: "colour"] }
        set { self[attribute: "colour"] = newValue }
    }

    final public var createdAt: Date {
        get { self[mandatory: "createdAt"] }
        set { self[mandatory: "createdAt"] = newValue }
    }

    final public var id: UUID {
        get { self[mandatory: "id"] }
        set { self[mandatory: "id"] = newValue }
    }

    final public var name: String {
        get { self[mandatory: "name"] }
        set { self[mandatory: "name"] = newValue }
    }

    /// A large value is stored in a file of its own.
    final public var picture: Data? {
        get { self[attribute: "picture"] }
        set { self[attribute: "picture"] = newValue }
    }

    /// Deleting this object deletes them.
    final public var challenges: Set<DaysChallenge> {
        get { self[toMany: "challenges"] }
        set { self[toMany: "challenges"] = newValue }
    }

    /// Deleting this object deletes them.
    final public var days: Set<HabitDay> {
        get { self[toMany: "days"] }
        set { self[toMany: "days"] = newValue }
    }

    /// The properties, with key paths from this class or from a subclass that an app registers.
    public final class func properties<Subclass: Habit>(of type: Subclass.Type) -> [TypedProperty] {
        let list: [TypedProperty] = [
            TypedProperty(attribute: "colour", \Subclass.colour, \Subclass?.?.colour),
            TypedProperty(mandatory: "createdAt", \Subclass.createdAt, \Subclass?.?.createdAt),
            TypedProperty(mandatory: "id", \Subclass.id, \Subclass?.?.id),
            TypedProperty(mandatory: "name", \Subclass.name, \Subclass?.?.name),
            TypedProperty(attribute: "picture", \Subclass.picture, \Subclass?.?.picture),
            TypedProperty(
                toMany: "challenges",
                \Subclass.challenges,
                \Subclass?.?.challenges,
                count: \Subclass.challenges.count,
                \Subclass?.?.challenges.count
            ),
            TypedProperty(
                toMany: "days",
                \Subclass.days,
                \Subclass?.?.days,
                count: \Subclass.days.count,
                \Subclass?.?.days.count
            ),
        ]
        return list
    }
}

/// The entity HabitDay.
open class HabitDay: ManagedObject, TypedObject {
    open class var entityName: String { "HabitDay" }
    open class var modelClasses: [any TypedObject.Type] { allClasses }
    override open class var plainClass: ManagedObject.Type { HabitDay.self }
    open class var properties: [TypedProperty] { properties(of: HabitDay.self) }

    final public var date: Date {
        get { self[mandatory: "date"] }
        set { self[mandatory: "date"] = newValue }
    }

    final public var wasExecuted: Bool {
        get { self[mandatory: "wasExecuted"] }
        set { self[mandatory: "wasExecuted"] = newValue }
    }

    final public var challenge: DaysChallenge? {
        get { self[toOne: "challenge"] }
        set { self[toOne: "challenge"] = newValue }
    }

    final public var habit: Habit? {
        get { self[toOne: "habit"] }
        set { self[toOne: "habit"] = newValue }
    }

    /// The properties, with key paths from this class or from a subclass that an app registers.
    public final class func properties<Subclass: HabitDay>(of type: Subclass.Type) -> [TypedProperty] {
        let list: [TypedProperty] = [
            TypedProperty(mandatory: "date", \Subclass.date, \Subclass?.?.date),
            TypedProperty(mandatory: "wasExecuted", \Subclass.wasExecuted, \Subclass?.?.wasExecuted),
            TypedProperty(toOne: "challenge", \Subclass.challenge, \Subclass?.?.challenge),
            TypedProperty(toOne: "habit", \Subclass.habit, \Subclass?.?.habit),
        ]
        return list
    }
}

/// The classes of the model.
private var allClasses: [any TypedObject.Type] {
    [DaysChallenge.self, Habit.self, HabitDay.self]
}
