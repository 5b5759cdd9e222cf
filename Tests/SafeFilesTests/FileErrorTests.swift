import SafeFiles
import SystemPackage
import Testing

@Suite("Errors of files")
struct FileErrorTests {
    @Test(
        "A refusal has a description and the kernel's closest error",
        arguments: [
            (FileError.Refusal.invalidName, Errno.invalidArgument, "it is not a valid file name"),
            (.wrongKind(.symbolicLink), .tooManySymbolicLinkLevels, "it is a symbolic link"),
            (.wrongKind(.directory), .isDirectory, "it is a folder"),
            (.wrongKind(.regular), .notDirectory, "it is a regular file"),
            (.wrongKind(.fifo), .noSuchAddressOrDevice, "it is a FIFO"),
            (.wrongKind(.socket), .noSuchAddressOrDevice, "it is a socket"),
            (.wrongKind(.device), .noSuchAddressOrDevice, "it is a device"),
            (.wrongKind(.other), .noSuchAddressOrDevice, "it is not a regular file"),
            (.hardLinked(3), .tooManyLinks, "it has 3 names (hard links)"),
            (.notUnicode, .illegalByteSequence, "its path is not valid UTF-8"),
            (.abandoned, .ioError, "an earlier fsync failed"),
            (.tooLarge, .fileTooLarge, "it is larger than expected"),
            (.closed, .badFileDescriptor, "it is closed"),
        ] as [(FileError.Refusal, Errno, String)]
    )
    func refusals(_ refusal: FileError.Refusal, _ errno: Errno, _ text: String) {
        let error = FileError(operation: "open", path: "/a/b", refusal: refusal)
        #expect(error.refusal == refusal)
        #expect(error.errno == errno)
        #expect(error.description == "cannot open, \(text): /a/b")
    }

    @Test("An error of the kernel has its description and no refusal")
    func kernel() {
        let error = FileError(operation: "write", path: "/a/b", errno: .noSpace)
        #expect(error.refusal == nil)
        #expect(error.errno == .noSpace)
        #expect(error.description == "cannot write, \(Errno.noSpace.description): /a/b")
    }

    @Test("Refusals, full disks and exhausted descriptors are distinguished")
    func kinds() {
        let refusals: [Errno] = [.permissionDenied, .notPermitted, .readOnlyFileSystem]
        let full: [Errno] = [.noSpace, .diskQuotaExceeded, .fileTooLarge]
        let exhausted: [Errno] = [.tooManyOpenFiles, .tooManyOpenFilesInSystem]
        for errno in refusals + full + exhausted + [.ioError] {
            #expect(errno.isRefusal == refusals.contains(errno))
            #expect(errno.isOutOfSpace == full.contains(errno))
            #expect(errno.isOutOfDescriptors == exhausted.contains(errno))
        }
    }
}
