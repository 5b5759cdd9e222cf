import SafeFiles
import StoreFormat
import TestSupport

/// A model file, which a caller names: a document or a compiled model.
final class ModelFileTarget: FuzzTarget {
    static let name = "model-file"
    static let mostBytes = 16 << 10
    static let words =
        [
            "<model ", "</model>", "<entity name=\"", "</entity>", "parentEntity=\"", "<attribute name=\"",
            "attributeType=\"",
            "\"Integer 32\"", "\"Decimal\"", "\"Date\"", "\"UUID\"", "\"Binary\"", "defaultValueString=\"",
            "defaultDateTimeInterval=\"", "<relationship name=\"", "destinationEntity=\"", "inverseName=\"",
            "toMany=\"YES\"",
            "maxCount=\"", "<fetchIndex name=\"", "<fetchIndexElement property=\"", "<uniquenessConstraint>",
            "<constraint value=\"", "<![CDATA[", "]]>", "<!--", "-->", "<?xml ", "?>", "&amp;", "&#x10FFFF;", "1e400",
            "99999999999999999999",
        ] + ModelCacheTarget.words.prefix(12)

    private static let document = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Animal" isAbstract="YES">
                <attribute name="born" optional="YES" attributeType="Date" defaultDateTimeInterval="12.5"/>
                <userInfo><entry key="NSPersistentHistoryTombstoneAttributes" value="born"/></userInfo>
            </entity>
            <entity name="Cat" parentEntity="Animal">
                <attribute name="toys" optional="YES" attributeType="Integer 32" defaultValueString="3"/>
                <attribute name="name" attributeType="String" defaultValueString="Tom &amp; &#x4A;erry"/>
                <relationship name="home" maxCount="1" deletionRule="Deny" destinationEntity="Home" inverseName="cats"/>
                <fetchIndex name="byName"><fetchIndexElement property="name" type="Binary" order="descending"/></fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <entity name="Home">
                <relationship name="cats" toMany="YES" ordered="YES" destinationEntity="Cat" inverseName="home"/>
            </entity>
            <!-- end -->
        </model>
        """

    private let folder: Directory

    init(in folder: Directory) throws { self.folder = folder }

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        [Array(document.utf8)]
            + (try ModelCacheTarget.seeds(from: source).filter { $0.starts(with: "bplist".utf8) }.prefix(8))
    }

    func run(_ bytes: [UInt8]) throws {
        defer { folder.removeContents() }
        try folder.put(bytes, "M.mom")
        _ = try ModelFile(path: folder.path + "/M.mom")
    }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        PropertyListChanges.changed(bytes, using: &generator)
    }
}
