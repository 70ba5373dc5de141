// `npm start`: installs what is missing, then runs the server with the arguments and the environment of this process.
import { join } from 'node:path'
import { handOver } from './execute.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'

const flags = [
  // MiB for each half of the heap's young part. Left to itself it grows to twice that when much is deployed at once.
  '--max-semi-space-size=16',
  // Memory is given back when it is quiet (server/lib/spare-memory.ts); compiled functions would go with it, and be compiled again.
  '--no-flush-bytecode',
]

await main(async () => {
  const { node, env } = await prepare()
  const program = [...flags, join(root, 'server', 'main.ts')]
  return await handOver(node, [...program, ...process.argv.slice(2)], env)
})
