// `npm start`: installs what is missing, then runs the server with the environment of this process.
import { join } from 'node:path'
import { buildConsole } from './console.mjs'
import { handOver } from './execute.mjs'
import { readOptions } from './options.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'

const flags = [
  // MiB for each half of the young generation. By default it grows to twice that under load.
  '--max-semi-space-size=16',
  // server/lib/spare-memory.ts returns memory after a busy time. Compiled code must survive that.
  '--no-flush-bytecode',
]

// By default the C library gives threads memory of their own, up to eight parts for each core, and
// returns little of it: 15 to 25 MB of an idle server.
const memory = { MALLOC_ARENA_MAX: '1' }

await main(async () => {
  // Settings come from the environment: an ignored option would look like one that works.
  readOptions([])
  const { node, env } = await prepare()
  // The server starts meanwhile. Until the console is there, its pages say so.
  void buildConsole(root, node).then((problem) => problem && console.error(`The console was not built:\n${problem}`))
  return await handOver(node, [...flags, join(root, 'server', 'main.ts')], { ...memory, ...env })
})
