internal import CConfinement
internal import Glibc
internal import SystemPackage

/// The three streams of a plugin.
struct PluginStreams {
    /// A pipe's two ends.
    struct Pipe {
        let ours: Int32
        let theirs: Int32

        init() throws(Errno) {
            var ends: [Int32] = [-1, -1]
            guard cconfinement_pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
            (ours, theirs) = (ends[0], ends[1])
        }
    }

    let input: Int32
    let output: Pipe
    let errors: Pipe

    /// Makes them; the plugin reads `input` and then the end.
    init(input bytes: [UInt8]) throws(Errno) {
        input = bytes.withUnsafeBytes { cconfinement_sealed_input($0.baseAddress, $0.count) }
        guard input != -1 else { throw Errno(rawValue: errno) }
        do throws(Errno) {
            output = try Pipe()
        } catch {
            close(input)
            throw error
        }
        do throws(Errno) {
            errors = try Pipe()
        } catch {
            for descriptor in [input, output.ours, output.theirs] { close(descriptor) }
            throw error
        }
    }

    func closeTheirs() {
        for descriptor in [input, output.theirs, errors.theirs] { close(descriptor) }
    }

    func closeOurs() {
        for descriptor in [output.ours, errors.ours] { close(descriptor) }
    }
}
