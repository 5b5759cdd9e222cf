import Glibc

extension WalkWorld {
    /// The rules that a cleaning broke; whether a row is left is checked as after every command.
    func cleaningObjections(to call: WalkStep.ToolCall, _ answer: Answer) -> [(String, String)] {
        guard call.verb == "clean" else { return [] }
        var found = parkedFiles.filter { access($0, F_OK) != 0 }.sorted()
            .map { ("L1", "clean removed parked rows: \(relative($0))") }
        let isPruning = call.words.contains("--keep") && !call.isRehearsal
        if isPruning { found += prunedArchives(call) }
        guard answer.ending == .exited(0), !call.isStopped else { return found }
        for leftover in answer.objects where leftover["type"] as? String == "leftover" {
            guard let path = leftover["path"] as? String, let state = leftover["state"] as? String else { continue }
            let isThere = access(path, F_OK) == 0
            if isThere != (state != "removed") {
                found.append(("L4", "clean says \(state) of what is\(isThere ? "" : " not") there: \(relative(path))"))
            }
            if state == "removed", leftover["kind"] as? String == "archive", !isPruning {
                found.append(("L2", "clean removed an archive without being asked: \(relative(path))"))
            }
        }
        return found
    }
}
