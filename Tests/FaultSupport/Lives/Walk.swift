import Foundation
import TestSupport

/// A random sequence of commands, app writes and other events, executed and checked step by step.
package struct Walk: Sendable {
    /// The options of a walk.
    package struct Options: Sendable {
        package var commands = 20
        /// The fraction of the commands that is killed.
        package var kills = 0.0
        /// The fraction of the commands whose file calls fail.
        package var failures = 0.0
        /// The fraction of the commands during which an app writes.
        package var live = 0.0
        /// True to include steps that keep stores open, and signals to commands.
        package var disturbs = true
        package var shapes = StoreShape.allCases
        package init() {}
    }

    package struct Result {
        package var setting: WalkWorld.Setting
        /// The program under test, where it is not the tool.
        package var program: String?
        package var steps: [WalkStep] = []
        package var violations: [WalkWorld.Violation] = []
        package var shell: [String] = []
        package var commands = 0
        package var endings: [String: Int] = [:]
        package var records: [WalkWorld.Record] = []
        var tables: [String: String] = [:]

        /// The number of commands during which an app wrote.
        package var commandsBesideWriters: Int {
            steps.count { if case .tool(let call) = $0 { call.liveWriter != nil } else { false } }
        }

        func table(of token: String) -> String? { tables[token] }

        mutating func take(from world: WalkWorld) {
            shell = world.shell
            endings = world.endings
            records = world.records
            tables = world.model.versions.mapValues(\.content.table)
        }
    }

    /// Runs the walk of a seed, up to its first broken rule.
    package static func random(seed: UInt64, _ options: Options) throws -> Result {
        var generator = SeededGenerator(seed: seed)
        var source = WalkSource(options: options, random: generator.fork())
        let setting = source.setting()
        let world = try WalkWorld(setting)
        var result = Result(setting: setting)
        while result.commands < options.commands, result.violations.isEmpty {
            let step = source.next(in: world)
            result.steps.append(step)
            if case .tool = step { result.commands += 1 }
            result.violations = try world.carryOut(step, number: result.steps.count - 1)
        }
        result.take(from: world)
        return result
    }

    /// Runs the given steps.
    package static func replay(
        _ steps: [WalkStep],
        in setting: WalkWorld.Setting,
        program: String? = nil
    ) throws -> Result {
        let world = try WalkWorld(setting, program: program)
        var result = Result(setting: setting, program: program, steps: steps)
        for (number, step) in steps.enumerated() where result.violations.isEmpty {
            result.violations = try world.carryOut(step, number: number)
        }
        result.take(from: world)
        return result
    }
}

extension SeededGenerator {
    mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }
}
