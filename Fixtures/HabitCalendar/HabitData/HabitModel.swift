import StoreFormat

extension ManagedObjectModel {
    /// The model that the app and its widget carry.
    static let habitCalendar = ManagedObjectModel(
        entities: [habit, daysChallenge, habitDay],
        versionIdentifiers: ["HabitCalendar 1"]
    )

    private static let habit = EntityDescription(
        name: "Habit",
        attributes: [
            AttributeDescription(
                name: "id",
                type: .uuid,
                isOptional: false,
                preservesValueInHistoryOnDeletion: true
            ),
            AttributeDescription(name: "name", type: .string, isOptional: false),
            AttributeDescription(name: "createdAt", type: .date, isOptional: false),
            AttributeDescription(name: "colour", type: .string),
            AttributeDescription(name: "picture", type: .binaryData, allowsExternalBinaryDataStorage: true),
        ],
        relationships: [
            toMany("challenges", "DaysChallenge", inverse: "habit", deleteRule: .cascade),
            toMany("days", "HabitDay", inverse: "habit", deleteRule: .cascade),
        ],
        uniquenessConstraints: [["id"]]
    )

    private static let daysChallenge = EntityDescription(
        name: "DaysChallenge",
        attributes: [
            AttributeDescription(name: "fromDate", type: .date, isOptional: false),
            AttributeDescription(name: "toDate", type: .date, isOptional: false),
            AttributeDescription(name: "isClosed", type: .boolean, isOptional: false),
        ],
        relationships: [
            RelationshipDescription(name: "habit", destination: "Habit", inverse: "challenges"),
            toMany("days", "HabitDay", inverse: "challenge"),
        ]
    )

    private static let habitDay = EntityDescription(
        name: "HabitDay",
        attributes: [
            AttributeDescription(name: "date", type: .date, isOptional: false),
            AttributeDescription(name: "wasExecuted", type: .boolean, isOptional: false),
        ],
        relationships: [
            RelationshipDescription(name: "habit", destination: "Habit", inverse: "days"),
            RelationshipDescription(name: "challenge", destination: "DaysChallenge", inverse: "days"),
        ],
        fetchIndexes: [FetchIndexDescription(name: "byDate", properties: ["date"])]
    )

    private static func toMany(
        _ name: String,
        _ destination: String,
        inverse: String,
        deleteRule: RelationshipDescription.DeleteRule = .nullify
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name,
            destination: destination,
            inverse: inverse,
            maxCount: 0,
            deleteRule: deleteRule
        )
    }
}
