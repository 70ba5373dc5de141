import { failpoints } from '../../server/lib/failpoint.ts'
import { testKillsAt } from './failpoints.cases.ts'

testKillsAt(['webhook.sent', ...failpoints.filter((point) => point !== 'webhook.sent')])
