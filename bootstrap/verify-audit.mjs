// `npm run verify-audit`: checks the hash chains of this installation's record of changes.
import { runProgram } from './prepare.mjs'

await runProgram('server/start/verify-audit.ts', { engine: false })
