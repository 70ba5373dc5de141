// `npm run doctor`: checks whether this machine can run the platform. `-- --json` prints a list.
import { runProgram } from './prepare.mjs'

await runProgram('server/start/doctor.ts', { engine: false })
