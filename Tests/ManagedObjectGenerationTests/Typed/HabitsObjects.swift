// The classes of Habits.xcdatamodel. GenerateManagedObjects writes this file; change the model instead.

public import Foundation
public import ManagedObjects

/// The entity Activity.
///
/// Something that a person does.
/// Abstract: each object belongs to a subclass.
open class Activity: ManagedObject, TypedObject {
    open class var entityName: String { "Activity" }
    open class var modelClasses: [any TypedObject.Type] { allClasses }
    override open class var plainClass: ManagedObject.Type { Activity.self }
    open class var properties: [TypedProperty] { properties(of: Activity.self) }

    /// The colour in the calendar.
    final public var colour: Colour? {
        get { self[rawValue: "colour"] }
        set { self[rawValue: "colour"] = newValue }
    }

    final public var name: String {
        get { self[mandatory: "name"] }
        set { self[mandatory: "name"] = newValue }
    }

    final public var site: URL? {
        get { self[attribute: "site"] }
        set { self[attribute: "site"] = newValue }
    }

    /// The properties, with key paths from this class or from a subclass that an app registers.
    public final class func properties<Subclass: Activity>(of type: Subclass.Type) -> [TypedProperty] {
        let list: [TypedProperty] = [
            TypedProperty(rawValue: "colour", \Subclass.colour, \Subclass?.?.colour),
            TypedProperty(mandatory: "name", \Subclass.name, \Subclass?.?.name),
            TypedProperty(attribute: "site", \Subclass.site, \Subclass?.?.site),
        ]
        return list
    }
}

/// The entity Habit.
open class Habit: Activity {
    override open class var entityName: String { "Habit" }
    override open class var plainClass: ManagedObject.Type { Habit.self }
    override open class var properties: [TypedProperty] { properties(of: Habit.self) }

    final public var cost: Decimal? {
        get { self[attribute: "cost"] }
        set { self[attribute: "cost"] = newValue }
    }

    final public var createdAt: Date {
        get { self[mandatory: "createdAt"] }
        set { self[mandatory: "createdAt"] = newValue }
    }

    final public var id: UUID {
        get { self[mandatory: "id"] }
        set { self[mandatory: "id"] = newValue }
    }

    final public var isClosed: Bool {
        get { self[mandatory: "isClosed"] }
        set { self[mandatory: "isClosed"] = newValue }
    }

    /// A large value is stored in a file of its own.
    final public var picture: Data? {
        get { self[attribute: "picture"] }
        set { self[attribute: "picture"] = newValue }
    }

    final public var rank: Int16? {
        get { self[attribute: "rank"] }
        set { self[attribute: "rank"] = newValue }
    }

    final public var share: Float? {
        get { self[attribute: "share"] }
        set { self[attribute: "share"] = newValue }
    }

    final public var tags: Data? {
        get { self[attribute: "tags"] }
        set { self[attribute: "tags"] = newValue }
    }

    final public var total: Int64 {
        get { self[mandatory: "total"] }
        set { self[mandatory: "total"] = newValue }
    }

    final public var weight: Double? {
        get { self[attribute: "weight"] }
        set { self[attribute: "weight"] = newValue }
    }

    /// Deleting this object deletes them.
    final public var days: Set<HabitDay> {
        get { self[toMany: "days"] }
        set { self[toMany: "days"] = newValue }
    }

    final public var follower: Habit? {
        get { self[toOne: "follower"] }
        set { self[toOne: "follower"] = newValue }
    }

    final public var leader: Habit? {
        get { self[toOne: "leader"] }
        set { self[toOne: "leader"] = newValue }
    }

    final public var steps: [Step] {
        get { self[ordered: "steps"] }
        set { self[ordered: "steps"] = newValue }
    }

    public func executedDays() throws -> [HabitDay] {
        try fetchedProperty(HabitDay.self, predicate: "habit == $FETCH_SOURCE AND wasExecuted == YES")
    }

    /// The properties, with key paths from this class or from a subclass that an app registers.
    public final class func properties<Subclass: Habit>(of type: Subclass.Type) -> [TypedProperty] {
        let list: [TypedProperty] = [
            TypedProperty(attribute: "cost", \Subclass.cost, \Subclass?.?.cost),
            TypedProperty(mandatory: "createdAt", \Subclass.createdAt, \Subclass?.?.createdAt),
            TypedProperty(mandatory: "id", \Subclass.id, \Subclass?.?.id),
            TypedProperty(mandatory: "isClosed", \Subclass.isClosed, \Subclass?.?.isClosed),
            TypedProperty(attribute: "picture", \Subclass.picture, \Subclass?.?.picture),
            TypedProperty(attribute: "rank", \Subclass.rank, \Subclass?.?.rank),
            TypedProperty(attribute: "share", \Subclass.share, \Subclass?.?.share),
            TypedProperty(attribute: "tags", \Subclass.tags, \Subclass?.?.tags),
            TypedProperty(mandatory: "total", \Subclass.total, \Subclass?.?.total),
            TypedProperty(attribute: "weight", \Subclass.weight, \Subclass?.?.weight),
            TypedProperty(
                toMany: "days",
                \Subclass.days,
                \Subclass?.?.days,
                count: \Subclass.days.count,
                \Subclass?.?.days.count
            ),
            TypedProperty(toOne: "follower", \Subclass.follower, \Subclass?.?.follower),
            TypedProperty(toOne: "leader", \Subclass.leader, \Subclass?.?.leader),
            TypedProperty(
                ordered: "steps",
                \Subclass.steps,
                \Subclass?.?.steps,
                count: \Subclass.steps.count,
                \Subclass?.?.steps.count
            ),
        ]
        return Activity.properties(of: type) + list
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

    final public var minutes: Int32? {
        get { self[attribute: "minutes"] }
        set { self[attribute: "minutes"] = newValue }
    }

    final public var mood: Mood {
        get { self[mandatoryRawValue: "mood"] }
        set { self[mandatoryRawValue: "mood"] = newValue }
    }

    final public var wasExecuted: Bool {
        get { self[mandatory: "wasExecuted"] }
        set { self[mandatory: "wasExecuted"] = newValue }
    }

    final public var habit: Habit? {
        get { self[toOne: "habit"] }
        set { self[toOne: "habit"] = newValue }
    }

    /// The properties, with key paths from this class or from a subclass that an app registers.
    public final class func properties<Subclass: HabitDay>(of type: Subclass.Type) -> [TypedProperty] {
        let list: [TypedProperty] = [
            TypedProperty(mandatory: "date", \Subclass.date, \Subclass?.?.date),
            TypedProperty(attribute: "minutes", \Subclass.minutes, \Subclass?.?.minutes),
            TypedProperty(mandatoryRawValue: "mood", \Subclass.mood, \Subclass?.?.mood),
            TypedProperty(mandatory: "wasExecuted", \Subclass.wasExecuted, \Subclass?.?.wasExecuted),
            TypedProperty(toOne: "habit", \Subclass.habit, \Subclass?.?.habit),
        ]
        return list
    }
}

/// The entity Step.
open class Step: ManagedObject, TypedObject {
    open class var entityName: String { "Step" }
    open class var modelClasses: [any TypedObject.Type] { allClasses }
    override open class var plainClass: ManagedObject.Type { Step.self }
    open class var properties: [TypedProperty] { properties(of: Step.self) }

    final public var title: String {
        get { self[mandatory: "title"] }
        set { self[mandatory: "title"] = newValue }
    }

    final public var habit: Habit? {
        get { self[toOne: "habit"] }
        set { self[toOne: "habit"] = newValue }
    }

    /// The properties, with key paths from this class or from a subclass that an app registers.
    public final class func properties<Subclass: Step>(of type: Subclass.Type) -> [TypedProperty] {
        let list: [TypedProperty] = [
            TypedProperty(mandatory: "title", \Subclass.title, \Subclass?.?.title),
            TypedProperty(toOne: "habit", \Subclass.habit, \Subclass?.?.habit),
        ]
        return list
    }
}

/// The classes of the model.
private var allClasses: [any TypedObject.Type] {
    [Activity.self, Habit.self, HabitDay.self, Step.self]
}
