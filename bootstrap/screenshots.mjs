// `npm run screenshots`: installs what is missing, then takes the pictures in docs/console. The
// arguments are passed on.
import { runProgram } from './prepare.mjs'

await runProgram('test/screenshots/main.ts', { testing: true })
