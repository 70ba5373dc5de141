// Builds, starts or stops the cluster of the tests: `node test/kubernetes/cluster/main.ts start`.
// `missing` prints what the cache lacks, a line each.
import { build, listMissing } from './build.ts'
import { startCluster } from './start.ts'
import { stopCluster } from './stop.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const commands: Readonly<Record<string, () => Promise<unknown>>> = {
  build: () => build(say),
  missing: async () => listMissing().forEach(say),
  start: async () => {
    await build(say)
    say(`KUBECONFIG=${await startCluster()}`)
  },
  stop: stopCluster,
}
const [name = ''] = process.argv.slice(2)
const command = commands[name]
if (!command) {
  process.stderr.write(`Unknown command "${name}". Choose among ${Object.keys(commands).join(', ')}.\n`)
  process.exit(2)
}
await command()
