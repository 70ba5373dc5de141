// `npm run rotate-key`: replaces the master key of this installation; `-- --organizations` replaces
// the keys of its organizations.
import { runProgram } from './prepare.mjs'

await runProgram('server/start/rotate-key.ts', { engine: false })
