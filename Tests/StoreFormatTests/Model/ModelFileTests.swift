import SafeFiles
import StoreAccess
import StoreFormat
import TestSupport
import Testing

@Suite("Reading model files")
struct ModelFileTests {
    private static let document = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <!-- A model with one of everything -->
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="7">
            <entity name="Animal" isAbstract="YES" syncable="YES">
                <attribute name="born" optional="YES" attributeType="Date" defaultDateTimeInterval="12.5"/>
                <attribute name="tag" attributeType="UUID" preserveAfterDeletion="YES"/>
                <userInfo>
                    <entry key="NSPersistentHistoryTombstoneAttributes" value="tag, born"/>
                </userInfo>
            </entity>
            <entity name="Cat" parentEntity="Animal" elementID="Feline" versionHashModifier="a" syncable="YES">
                <attribute name="toys" optional="YES" attributeType="Integer 32" defaultValueString="3"/>
                <attribute name="name" attributeType="String" defaultValueString="Tom &amp; &#x4A;erry"/>
                <attribute name="isIn" attributeType="Boolean" defaultValueString="YES"/>
                <attribute name="mass" optional="YES" attributeType="Double" defaultValueString="4.5" elementID="weight" versionHashModifier="b"/>
                <attribute name="nick" optional="YES" attributeType="String" derived="YES" derivationExpression="name"/>
                <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="shown" optional="YES" transient="YES" attributeType="Transformable" valueTransformerName="T"/>
                <relationship name="home" maxCount="1" deletionRule="Deny" destinationEntity="Home" inverseName="cats" elementID="house" versionHashModifier="c"/>
                <fetchedProperty name="others"/>
                <fetchIndex name="byName">
                    <fetchIndexElement property="name" type="Binary" order="descending"/>
                    <fetchIndexElement property="mass" type="RTree" order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="name"/><constraint value="home"/></uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <entity name="Home" syncable="YES">
                <relationship name="cats" optional="YES" toMany="YES" minCount="1" maxCount="9" deletionRule="Cascade"
                    ordered="YES" destinationEntity="Cat" inverseName="home"/>
            </entity>
            <elements><element name="Cat" positionX="0"/></elements>
        </model>
        """

    private static let model = ManagedObjectModel(
        entities: [
            EntityDescription(
                name: "Animal",
                isAbstract: true,
                attributes: [
                    AttributeDescription(name: "born", type: .date, defaultValue: .date(12.5)),
                    AttributeDescription(
                        name: "tag",
                        type: .uuid,
                        isOptional: false,
                        preservesValueInHistoryOnDeletion: true
                    ),
                ],
                legacyTombstoneAttributes: ["tag", "born"]
            ),
            EntityDescription(
                name: "Cat",
                superentity: "Animal",
                attributes: [
                    AttributeDescription(name: "isIn", type: .boolean, isOptional: false, defaultValue: .boolean(true)),
                    AttributeDescription(
                        name: "mass",
                        type: .double,
                        defaultValue: .real(4.5),
                        renamingIdentifier: "weight",
                        versionHashModifier: "b"
                    ),
                    AttributeDescription(
                        name: "name",
                        type: .string,
                        isOptional: false,
                        defaultValue: .string("Tom & Jerry")
                    ),
                    AttributeDescription(name: "nick", type: .string, isDerived: true, derivationExpression: "name"),
                    AttributeDescription(name: "photo", type: .binaryData, allowsExternalBinaryDataStorage: true),
                    AttributeDescription(
                        name: "shown",
                        type: .transformable,
                        isTransient: true,
                        valueTransformerName: "T"
                    ),
                    AttributeDescription(name: "toys", type: .integer32, defaultValue: .integer(3)),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "home",
                        destination: "Home",
                        inverse: "cats",
                        isOptional: false,
                        deleteRule: .deny,
                        renamingIdentifier: "house",
                        versionHashModifier: "c"
                    )
                ],
                uniquenessConstraints: [["name", "home"]],
                fetchIndexes: [
                    FetchIndexDescription(
                        name: "byName",
                        elements: [
                            FetchIndexDescription.Element(property: "name", isAscending: false),
                            FetchIndexDescription.Element(property: "mass", kind: .rTree),
                        ]
                    )
                ],
                renamingIdentifier: "Feline",
                versionHashModifier: "a"
            ),
            EntityDescription(
                name: "Home",
                relationships: [
                    RelationshipDescription(
                        name: "cats",
                        destination: "Cat",
                        inverse: "home",
                        minCount: 1,
                        maxCount: 9,
                        isOrdered: true,
                        deleteRule: .cascade
                    )
                ]
            ),
        ],
        versionIdentifiers: ["7"]
    )

    @Test("A model document is read completely, in its folder or alone")
    func document() throws {
        let scratch = try ScratchFolder()
        try scratch.write("Cats.xml", Array(Self.document.utf8))
        #expect(try ModelFile(path: scratch.path + "/Cats.xml").model == Self.model)
        try scratch.writeModel(Self.document, at: ["Cats.xcdatamodel"])
        let file = try ModelFile(path: scratch.path + "/Cats.xcdatamodel/")
        #expect(file == ModelFile(model: Self.model))
    }

    @Test("From a folder of versions the current one is read, or the requested one")
    func versions() throws {
        let scratch = try ScratchFolder()
        let second = Self.document.replacing("Identifier=\"7\"", with: "Identifier=\"8\"")
        try scratch.writeModel(Self.document, at: ["Cats.xcdatamodeld", "Cats.xcdatamodel"])
        let path = scratch.path + "/Cats.xcdatamodeld"
        #expect(try ModelFile(path: path).versionName == "Cats")
        try scratch.writeModel(second, at: ["Cats.xcdatamodeld", "Cats 2.xcdatamodel"])
        let undecided = #expect(throws: StoreError.self) { try ModelFile(path: path) }
        #expect(undecided?.message == "no version of the model is the current one: name one of Cats, Cats 2")
        try scratch.write(
            ".xccurrentversion",
            """
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>Cats 2.xcdatamodel</string></dict></plist>
            """,
            in: ["Cats.xcdatamodeld"]
        )
        #expect(try ModelFile(path: path).model.versionIdentifiers == ["8"])
        #expect(try ModelFile(path: path, version: "Cats").model.versionIdentifiers == ["7"])
        let unknown = #expect(throws: StoreError.self) { try ModelFile(path: path, version: "Dogs") }
        #expect(unknown?.message == "there is no version Dogs of the model, but Cats, Cats 2")
    }

    struct Wrong: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        let replacement: String
        let words: String
    }

    static let wrongs = [
        Wrong(
            testDescription: "an unknown type",
            text: "\"Integer 32\"",
            replacement: "\"Integer 7\"",
            words: "in line 12 of the model document, the attribute toys has an unknown type Integer 7"
        ),
        Wrong(
            testDescription: "a default of another type",
            text: "defaultValueString=\"3\"",
            replacement: "defaultValueString=\"x\"",
            words: "in line 12 of the model document, the default of the attribute toys is not of its type"
        ),
        Wrong(
            testDescription: "an unknown delete rule",
            text: "\"Deny\"",
            replacement: "\"Maybe\"",
            words: "in line 19 of the model document, the relationship home has an unknown delete rule Maybe"
        ),
        Wrong(
            testDescription: "an unknown parent",
            text: "parentEntity=\"Animal\"",
            replacement: "parentEntity=\"Plant\"",
            words: "in line 11 of the model document, the entity Cat has an unknown parent Plant"
        ),
        Wrong(
            testDescription: "an entity twice",
            text: "<entity name=\"Home\"",
            replacement: "<entity name=\"Cat\"",
            words: "two entities have one name"
        ),
        Wrong(
            testDescription: "a missing end",
            text: "</model>",
            replacement: "",
            words: "the model document is malformed in line 34: <model> is not ended"
        ),
        Wrong(
            testDescription: "a document type definition",
            text: "<!-- A model with one of everything -->",
            replacement: "<!DOCTYPE model [<!ENTITY a \"aaaa\">]>",
            words: "the model document is malformed in line 2: document type definitions are not supported"
        ),
        Wrong(
            testDescription: "another document",
            text: "<model type",
            replacement: "<plan type",
            words: "the model document is malformed in line 34: </model> ends an element that was not begun"
        ),
    ]

    @Test("An invalid model document is rejected with the line of the error", arguments: wrongs)
    func wrong(_ wrong: Wrong) throws {
        let scratch = try ScratchFolder()
        let text = Self.document.replacing(wrong.text, with: wrong.replacement, maxReplacements: 1)
        try scratch.write("Cats.xml", Array(text.utf8))
        let error = #expect(throws: StoreError.self) { try ModelFile(path: scratch.path + "/Cats.xml") }
        #expect(error?.message == "the model cannot be read: " + wrong.words)
        #expect(error?.code == .incompatible)
    }

    @Test("A missing path, an empty folder and other data are rejected with the reason")
    func absent() throws {
        let scratch = try ScratchFolder()
        try scratch.write("noise", [1, 2, 3])
        _ = try scratch.directory.createDirectory("empty", mode: 0o755)
        let messages = ["none", "noise", "empty"]
            .map { name in
                do throws(StoreError) {
                    _ = try ModelFile(path: scratch.path + "/" + name)
                    return "read"
                } catch {
                    return error.code.rawValue + ": " + error.message
                }
            }
        #expect(
            messages == [
                "notFound: there is no model",
                "incompatible: the model cannot be read: it is neither compiled nor a document",
                "incompatible: the folder contains no model",
            ]
        )
    }

    @Test("A damaged document never traps", arguments: Seed.several(200))
    func damaged(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var bytes = Array(Self.document.utf8)
        for _ in 0...Int.random(in: 0..<4, using: &generator) {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.removeSubrange(place..<min(bytes.count, place + 7))
            default: bytes = Array(bytes[..<place])
            }
            if bytes.isEmpty { bytes = [60] }
        }
        let scratch = try ScratchFolder()
        try scratch.write("Cats.xml", bytes)
        do throws(StoreError) {
            _ = try ModelFile(path: scratch.path + "/Cats.xml")
        } catch {
            #expect(error.code == .incompatible)
        }
    }
}

extension ScratchFolder {
    /// Writes a model document to nested folders.
    fileprivate func writeModel(_ text: String, at folders: [String]) throws {
        try write("contents", text, in: folders)
    }

    fileprivate func write(_ name: String, _ text: String, in folders: [String]) throws {
        var folder = directory
        for component in folders {
            let isThere = try folder.status(of: component) != nil
            folder = try isThere ? folder.openDirectory(component) : folder.createDirectory(component, mode: 0o755)
        }
        let file = try folder.createFile(name, mode: 0o644)
        try Array(text.utf8).withUnsafeBytes { try file.write($0, at: 0) }
        try file.close()
    }
}
