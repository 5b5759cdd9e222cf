import TestSupport

/// Chooses the steps of a walk by the state of the stores, so that commands have work to do.
struct WalkSource {
    let options: Walk.Options
    var random: SeededGenerator
    private var token = 0
    private var pending: [WalkStep] = []
    /// The pair of stores that most commands use.
    private var pair = [0, 1]
    private var hasBegun = false
    /// The previous command, where it was killed or interrupted, or its file calls failed.
    private var harmed: WalkStep.ToolCall?
    private var commands = 0
    /// The number of commands during which an app writes.
    private var live = 0

    init(options: Walk.Options, random: SeededGenerator) {
        self.options = options
        self.random = random
    }

    mutating func setting() -> WalkWorld.Setting {
        WalkWorld.Setting(
            shape: options.shapes.randomElement(using: &random) ?? .integerKey,
            journalMode: chance(0.6) ? "wal" : "delete",
            hasOddNames: chance(0.02)
        )
    }

    mutating func next(in world: WalkWorld) -> WalkStep {
        if !hasBegun {
            hasBegun = true
            pending = beginning(world)
        }
        if !pending.isEmpty { return pending.removeFirst() }
        let stores = world.places.indices.filter { world.contents[$0] != nil }
        let open = stores.filter { world.contents[$0]?.refusal == nil }
        // A write or two between commands, to writable stores.
        if chance(0.55), let place = open.randomElement(using: &random) { return work(at: place, world) }
        if options.disturbs, chance(0.04), let place = stores.randomElement(using: &random) {
            return .hold(place: place, Bool.random(using: &random) ? .idle : .readTransaction)
        }
        if let place = world.holders.keys.sorted().first, chance(0.3) { return .release(place: place) }
        if chance(0.02), let copy = copy(stores) { return copy }
        if world.published != nil, chance(0.02) { return .removeSnapshot }
        let call = command(stores, open, world)
        // A conflict, for a program to decide.
        if call.words.contains("--resolver"), pair.allSatisfy(open.contains), chance(0.7) {
            let table = Int.random(in: world.shape.tables.indices, using: &random)
            let pick = Int.random(in: 0..<1000, using: &random)
            pending = pair.map { place in
                token += 1
                return .app(place: place, .update(table: table, pick: pick, token: token, seed: random.next()))
            }
            pending.append(.tool(call))
            return pending.removeFirst()
        }
        return .tool(call)
    }

    private mutating func beginning(_ world: WalkWorld) -> [WalkStep] {
        var steps: [WalkStep] = [.app(place: 0, .create)]
        for _ in 0..<Int.random(in: 1...4, using: &random) { steps.append(insertion(at: 0, world)) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: steps.append(.copy(from: 0, to: 1))
        case 1 where !world.setting.hasOddNames: steps += [.app(place: 2, .create), insertion(at: 2, world)]
        case 2 where !world.setting.hasOddNames: steps.append(.app(place: 1, .create))
        default: break
        }
        return steps
    }

    // MARK: Apps

    private mutating func insertion(at place: Int, _ world: WalkWorld) -> WalkStep {
        token += 1
        let table = Int.random(in: world.shape.tables.indices, using: &random)
        return .app(place: place, .insert(table: table, token: token, seed: random.next()))
    }

    private mutating func work(at place: Int, _ world: WalkWorld) -> WalkStep {
        let table = Int.random(in: world.shape.tables.indices, using: &random)
        let pick = Int.random(in: 0..<1000, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<50: return insertion(at: place, world)
        case 50..<75:
            token += 1
            return .app(place: place, .update(table: table, pick: pick, token: token, seed: random.next()))
        case 75..<93: return .app(place: place, .delete(table: table, pick: pick))
        case 93..<96: return .app(place: place, .vacuum)
        case 96..<99: return .app(place: place, .checkpoint)
        default:
            token += 1
            return .app(place: place, .sql("CREATE INDEX extra\(token) ON \(world.shape.tables[0].name) (token)"))
        }
    }

    private mutating func copy(_ stores: [Int]) -> WalkStep? {
        let free = (0..<3).filter { !stores.contains($0) }
        guard let from = stores.randomElement(using: &random), let to = free.randomElement(using: &random) else {
            return nil
        }
        return .copy(from: from, to: to)
    }

    // MARK: Commands

    private mutating func command(_ stores: [Int], _ open: [Int], _ world: WalkWorld) -> WalkStep.ToolCall {
        // Most commands use the pair of the previous one.
        if chance(0.3) {
            let old = stores.randomElement(using: &random) ?? 0
            let new = [0, 1, 2].filter { $0 != old }.randomElement(using: &random) ?? 1
            pair = [old, new]
        }
        var call = sequel() ?? WalkStep.ToolCall(words(world) + (chance(0.7) ? ["--json"] : []))
        if isDue(options.live, after: live), let place = pair.filter(open.contains).randomElement(using: &random) {
            call.liveWriter = WalkStep.LiveWriter(place: place, firstToken: token + 1, seed: random.next())
            token += WalkStep.LiveWriter.rows
            live += 1
        }
        if options.disturbs, chance(0.03) {
            call.harm = .terminated(milliseconds: Int.random(in: 0..<150, using: &random))
        } else if isDue(options.kills, after: world.killed) {
            // Commands that only read, or refuse, make few calls.
            let calls = Bool.random(using: &random) ? 400 : 40
            call.harm = .killed(call: Int.random(in: 0..<calls, using: &random))
        } else if isDue(options.failures, after: world.failed) {
            let calls = Bool.random(using: &random) ? 200 : 20
            let failure = WalkStep.Failure.allCases.randomElement(using: &random) ?? .inputOutputError
            call.harm = .failed(call: Int.random(in: 0..<calls, using: &random), failure)
        }
        commands += 1
        if call.harm != .none { harmed = call }
        return call
    }

    /// True so often that `fraction` of the commands are counted, although some of those chosen do not count.
    private mutating func isDue(_ fraction: Double, after count: Int) -> Bool {
        chance(Double(count) < fraction * Double(commands + 1) ? 2 * fraction : fraction / 2)
    }

    /// A person's next command after a killed one: the same again, or one that finishes it.
    private mutating func sequel() -> WalkStep.ToolCall? {
        guard let call = harmed, chance(0.75) else {
            harmed = nil
            return nil
        }
        harmed = nil
        if chance(0.5) { return WalkStep.ToolCall(call.words) }
        return WalkStep.ToolCall([chance(0.7) ? "resume" : "abort", "{\(call.places.first ?? 0)}", "--json"])
    }

    private mutating func words(_ world: WalkWorld) -> [String] {
        let (old, new) = ("{\(pair[0])}", "{\(pair[1])}")
        if chance(0.1) { return publication(old, new, world) }
        if chance(0.08) { return cleaning() }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<38: return share(old, new)
        case 38..<49: return ["unshare", old, new] + deciding("--resolver", WalkProgram.resolvers, 0.2)
        case 49..<64:
            let (into, from) = chance(0.5) ? (old, new) : (new, old)
            return ["merge", into, from] + (chance(0.4) ? ["--base", "{base}"] : []) + policy(0.15)
                + deciding("--resolver", WalkProgram.resolvers, 0.2)
        case 64..<74: return ["unmerge", chance(0.5) ? old : new]
        case 74..<80: return ["status", old, new]
        case 80..<83: return ["plan", old, new]
        case 83..<86: return ["retire", old]
        case 86..<88: return ["resume", old]
        case 88..<90: return ["abort", old]
        case 90..<94: return ["backup", chance(0.5) ? old : new, "-o", "{backups}"]
        case 94..<96:
            return ["restore", "{archive}", chance(0.5) ? old : new] + (chance(0.6) ? ["--overwrite", "always"] : [])
        case 96..<97: return ["backups", "prune", "{backups}", "--keep-last", "1"]
        case 97..<98: return ["verify", new, "--against", old]
        default: return ["diff", old, new]
        }
    }

    private mutating func cleaning() -> [String] {
        let place = chance(0.5) ? pair[0] : pair[1]
        return ["clean", chance(0.5) ? "{\(place)}" : "{folder \(place)}"] + (chance(0.35) ? ["-n"] : [])
            + (chance(0.2) ? ["--keep", "1"] : [])
    }

    /// A publication, or a command that confuses the snapshot with a store.
    private mutating func publication(_ old: String, _ new: String, _ world: WalkWorld) -> [String] {
        let former = world.published.map { "{\($0.source)}" }
        let source = chance(0.8) ? former ?? old : old
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6: return ["publish", source, "{snapshot}"]
        case 6: return ["publish", old, new]
        case 7: return chance(0.5) ? ["share", old, "{snapshot}"] : ["share", "{snapshot}", new]
        case 8: return ["merge", "{snapshot}", old]
        default: return ["status", old, "{snapshot}"]
        }
    }

    private mutating func share(_ old: String, _ new: String) -> [String] {
        var words = ["share", old, new]
        if chance(0.6) { words += ["--old", "capture"] }
        if chance(0.35) {
            words += ["--on-both", ["fail", "keep-old", "keep-new", "merge"].randomElement(using: &random) ?? "fail"]
        }
        words += policy(0.12)
        let isConfirmed = chance(0.2)
        return words
            + (isConfirmed
                ? deciding("--confirm", WalkProgram.vetoes, 1) : deciding("--resolver", WalkProgram.resolvers, 0.2))
    }

    /// A program that decides; where the kernel cannot confine it, it runs nevertheless.
    private mutating func deciding(
        _ option: String,
        _ programs: [WalkProgram],
        _ probability: Double
    ) -> [String] {
        guard chance(probability), let program = programs.randomElement(using: &random) else { return [] }
        return [option, program.word, "--plugin-sandbox", "best-effort"]
    }

    private mutating func policy(_ probability: Double) -> [String] {
        guard chance(probability) else { return [] }
        return [
            "--policy", ["late", "overwrite", "rollback", "newest", "error"].randomElement(using: &random) ?? "late",
        ]
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }
}
