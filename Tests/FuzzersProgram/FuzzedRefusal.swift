import ChangeRelay
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreBackup
import StoreFixtures
import StoreFormat
import StoreStrategies
import StrategyProcess
import UpgradeRehearsal

/// A documented error of the product about the input.
protocol FuzzedRefusal: Error {}

extension BackupError: FuzzedRefusal {}
extension FetchError: FuzzedRefusal {}
extension FileError: FuzzedRefusal {}
extension PredicateSyntaxError: FuzzedRefusal {}
extension RecipeError: FuzzedRefusal {}
extension RelayError: FuzzedRefusal {}
extension ScenarioError: FuzzedRefusal {}
extension StoreError: FuzzedRefusal {}
extension StrategyError: FuzzedRefusal {}
extension UndecodableData: FuzzedRefusal {}
extension UnreadableStore: FuzzedRefusal {}
// The wire's reader converts it to its own error.
extension DecodingError: FuzzedRefusal {}
