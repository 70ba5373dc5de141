// `npm run bench`: installs what is missing, then runs the benchmarks with the given arguments.
import { runProgram } from './prepare.mjs'

await runProgram('bench/main.ts')
