// `npm start`: installs what is missing, then runs the server with the arguments and the environment of this process.
import { join } from 'node:path'
import { handOver } from './execute.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'

/**
 * MiB for each half of the heap's young part. Left to itself it grows to twice that when much is deployed at once, and what it took then is
 * not given back.
 */
const youngHeap = 16

await main(async () => {
  const { node, env } = await prepare()
  const program = [`--max-semi-space-size=${youngHeap}`, join(root, 'server', 'main.ts')]
  return await handOver(node, [...program, ...process.argv.slice(2)], env)
})
