import StoreAccess
import Testing

@testable import StoreVerification

/// A statement that breaks one invariant of Core Data in a small store, and the finding that reports it.
struct CoreDataDamage: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let sql: String
    let code: Finding.Code
    var severity = Finding.Severity.error
    var table: String?
    var key: Int64?

    /// The recipe of the store; the statements use the numbers of its entities.
    ///
    /// Being 1 (abstract) with Person 2 and Robot 3, Club 4, Passport 5, Pet 6.
    static let recipe = """
        about: A small store with every kind of relationship.
        seed: verification
        options: {history: true, bundle: com.example.Beings, process: Beings}
        model:
          entities:
            Being:
              abstract: true
              attributes:
                name: {type: string, optional: false}
              relationships:
                admirers: {to: Pet, inverse: idol, many: true}
            Person:
              parent: Being
              attributes:
                email: string
                photo: {type: binaryData, externalStorage: true}
              relationships:
                passport: {to: Passport, inverse: owner}
                pets: {to: Pet, inverse: keeper, many: true, ordered: true}
                clubs: {to: Club, inverse: members, many: true, ordered: true}
            Robot:
              parent: Being
              attributes: {make: {type: string, optional: false}}
            Club:
              attributes: {title: string}
              relationships:
                members: {to: Person, inverse: clubs, many: true}
              unique: [[title]]
            Passport:
              attributes: {number: integer32}
              relationships:
                owner: {to: Person, inverse: passport}
            Pet:
              attributes: {name: string}
              relationships:
                keeper: {to: Person, inverse: pets}
                idol: {to: Being, inverse: admirers}
        saves:
          - author: app
            at: 2026-03-01T09:00:00Z
            insert:
              - {entity: Club, name: "club{n}", repeat: 3, values: {title: "Club {n}"}}
              - {entity: Passport, name: "passport{n}", repeat: 2, values: {number: 7}}
              - {entity: Person, name: ann, values: {name: Ann, email: a@example.com, passport: passport1, clubs: [club1, club2, club3], photo: {bytes: 120000, fill: "photo "}}}
              - {entity: Person, name: bob, values: {name: Bob, passport: passport2, clubs: [club1]}}
              - {entity: Robot, name: robot, values: {name: Marvin, make: GPP}}
              - {entity: Pet, repeat: 4, name: "pet{n}", values: {name: "Pet {n}", keeper: ann, idol: {cycle: [robot, bob]}}}
          - author: widget
            at: 2026-03-02T09:00:00Z
            update:
              - {object: pet1, values: {name: Rex}}
        """

    static let all = [
        Self(
            testDescription: "Z_MAX is behind",
            sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Being'",
            code: .keyMaximumBehind,
            table: "ZBEING"
        ),
        Self(
            testDescription: "Z_MAX of the history is behind",
            sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'TRANSACTION'",
            code: .keyMaximumBehind,
            table: "ATRANSACTION"
        ),
        Self(
            testDescription: "an entity of another table",
            sql: "UPDATE ZBEING SET Z_ENT = 4 WHERE Z_PK = 1",
            code: .wrongEntity,
            table: "ZBEING",
            key: 1
        ),
        Self(
            testDescription: "no entity at all",
            sql: "UPDATE ZBEING SET Z_ENT = NULL WHERE Z_PK = 2",
            code: .wrongEntity,
            table: "ZBEING",
            key: 2
        ),
        Self(
            testDescription: "an abstract entity",
            sql: "UPDATE ZBEING SET Z_ENT = 1 WHERE Z_PK = 1",
            code: .abstractEntity,
            table: "ZBEING",
            key: 1
        ),
        Self(
            testDescription: "a to-one to a row that does not exist",
            sql: "UPDATE ZPET SET ZKEEPER = 99 WHERE Z_PK = 3",
            code: .danglingRelationship,
            table: "ZPET",
            key: 3
        ),
        Self(
            testDescription: "a to-one to an object of another entity",
            sql: "UPDATE ZPET SET ZKEEPER = (SELECT Z_PK FROM ZBEING WHERE Z_ENT = 3) WHERE Z_PK = 3",
            code: .danglingRelationship,
            table: "ZPET",
            key: 3
        ),
        Self(
            testDescription: "a key without its entity",
            sql: "UPDATE ZPET SET Z1_IDOL = NULL WHERE Z_PK = 2",
            code: .entityKeyDiffers,
            table: "ZPET",
            key: 2
        ),
        Self(
            testDescription: "an entity without its key",
            sql: "UPDATE ZPET SET ZIDOL = NULL WHERE Z_PK = 2",
            code: .entityKeyDiffers,
            table: "ZPET",
            key: 2
        ),
        Self(
            testDescription: "the wrong entity beside a key",
            sql: "UPDATE ZPET SET Z1_IDOL = 2 WHERE Z_PK = 1",
            code: .entityKeyDiffers,
            table: "ZPET",
            key: 1
        ),
        Self(
            testDescription: "a one-to-one whose sides disagree",
            sql: "UPDATE ZPASSPORT SET ZOWNER = 2 WHERE Z_PK = 1",
            code: .inverseDisagrees,
            table: "ZPASSPORT",
            key: 1
        ),
        Self(
            testDescription: "a one-to-one with one side only",
            sql: "UPDATE ZPASSPORT SET ZOWNER = NULL WHERE Z_PK = 1",
            code: .inverseDisagrees,
            table: "ZBEING"
        ),
        Self(
            testDescription: "a join row to an object that does not exist",
            sql: "DELETE FROM ZCLUB WHERE Z_PK = 3",
            code: .danglingJoin,
            key: 3
        ),
        Self(
            testDescription: "two objects at one place of an ordered relationship",
            sql: "UPDATE ZPET SET Z_FOK_KEEPER = 1024",
            code: .repeatedOrderKey,
            severity: .warning,
            table: "ZPET"
        ),
        Self(
            testDescription: "a version hash for no entity",
            sql: "DELETE FROM ZPASSPORT; DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Passport'",
            code: .modelHashes
        ),
        Self(
            testDescription: "an entity numbered under a former name",
            sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Papers' WHERE Z_NAME = 'Passport'",
            code: .entityRenamed,
            severity: .warning
        ),
        Self(
            testDescription: "an entity whose table is not found",
            sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Former' || Z_NAME WHERE Z_NAME IN ('Passport', 'Club')",
            code: .notProved,
            severity: .info
        ),
        Self(
            testDescription: "a required attribute without a value",
            sql: "UPDATE ZBEING SET ZNAME = NULL WHERE Z_PK = 2",
            code: .requiredValueMissing,
            table: "ZBEING",
            key: 2
        ),
        Self(
            testDescription: "a value required by a subentity is missing",
            sql: "UPDATE ZBEING SET ZMAKE = NULL",
            code: .requiredValueMissing,
            table: "ZBEING"
        ),
        Self(
            testDescription: "two objects that are the same by a constraint",
            sql: "DROP INDEX Z_Club_UNIQUE_title; UPDATE ZCLUB SET ZTITLE = 'Club 1' WHERE Z_PK = 3",
            code: .duplicateObject,
            table: "ZCLUB",
            key: 3
        ),
        Self(
            testDescription: "a change without its transaction",
            sql: "UPDATE ACHANGE SET ZTRANSACTIONID = 77 WHERE Z_PK = 2",
            code: .orphanChange,
            table: "ACHANGE",
            key: 2
        ),
        Self(
            testDescription: "one object twice in a transaction",
            sql: """
                UPDATE ACHANGE SET ZENTITYPK = 1, ZENTITY = 4 WHERE ZTRANSACTIONID = 1 AND ZENTITY = 4 AND ZENTITYPK = 2
                """,
            code: .repeatedChange,
            table: "ACHANGE"
        ),
        Self(
            testDescription: "a list of changed properties of another length",
            sql: "UPDATE ACHANGE SET ZCOLUMNS = x'000000' WHERE ZCHANGETYPE = 1",
            code: .historyColumns,
            table: "ACHANGE"
        ),
        Self(
            testDescription: "an update without its list of changed properties",
            sql: "UPDATE ACHANGE SET ZCOLUMNS = NULL WHERE ZCHANGETYPE = 1",
            code: .historyColumns,
            table: "ACHANGE"
        ),
        Self(
            testDescription: "an insertion with changed properties",
            sql: "UPDATE ACHANGE SET ZCOLUMNS = x'00' WHERE Z_PK = 1",
            code: .historyColumns,
            table: "ACHANGE",
            key: 1
        ),
        Self(
            testDescription: "a transaction before its predecessor",
            sql: "UPDATE ATRANSACTION SET ZTIMESTAMP = 1 WHERE Z_PK = 2",
            code: .historyTimeBackwards,
            severity: .warning,
            table: "ATRANSACTION",
            key: 2
        ),
        Self(
            testDescription: "no metadata property list",
            sql: "UPDATE Z_METADATA SET Z_PLIST = NULL",
            code: .metadataIncomplete,
            table: "Z_METADATA"
        ),
        Self(
            testDescription: "an unreadable metadata property list",
            sql: "UPDATE Z_METADATA SET Z_PLIST = x'0102'",
            code: .metadataIncomplete,
            table: "Z_METADATA"
        ),
        Self(
            testDescription: "two rows of metadata",
            sql: "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA",
            code: .metadataRows,
            table: "Z_METADATA"
        ),
        Self(
            testDescription: "the file of an external value is missing",
            sql: """
                UPDATE ZBEING SET ZPHOTO = CAST(x'02' || '11111111-2222-3333-4444-555555555555' || x'00' AS BLOB)
                WHERE ZPHOTO IS NULL AND Z_PK = 2
                """,
            code: .externalFileMissing,
            table: "ZBEING",
            key: 2
        ),
        Self(
            testDescription: "no value refers to an external file",
            sql: "UPDATE ZBEING SET ZPHOTO = NULL",
            code: .externalFileUnused,
            severity: .warning
        ),
    ]
}
