import { checkInferenceBridge } from '../../../../../core/testing/inference-bridge.ts'
import { loopback } from '../../../../../plugins/inference-bridge/loopback/bridge.ts'

checkInferenceBridge('loopback', () => ({ bridge: loopback }), { echoes: true, aheadMs: 20 })
