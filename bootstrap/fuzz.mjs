// `npm run fuzz`: installs what is missing, then sends random requests to a server. The arguments
// are passed on.
import { runProgram } from './prepare.mjs'

await runProgram('test/fuzz/main.ts')
