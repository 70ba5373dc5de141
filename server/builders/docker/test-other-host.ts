import { connect } from 'node:net'
import { run, start } from '../../lib/run.ts'
import { until } from '../../workflows/testing.ts'

/** The kernel's namespace that acts as the other host. */
export const otherHostName = `quay${process.pid}`

/** The reason to skip; false if `otherHost` works. */
export async function whyNoOtherHost(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'only root may create networks and rules of the machine'
  const found = await run('ip', ['-V'], { timeoutMs: 10_000 }).catch(() => undefined)
  return found?.exitCode === 0 ? false : 'the program ip is missing (Debian: iproute2)'
}

/**
 * Creates a host beside this machine, behind a router like a cloud's metadata service. It is a
 * namespace of the kernel with that address and listens on ports 80 and 53. It avoids the address
 * of most clouds, which the test machine itself may need.
 */
export async function otherHost(t: { after(end: () => Promise<void>): void }, address: string): Promise<void> {
  const name = otherHostName
  const ip = async (...args: string[]): Promise<void> => {
    const { exitCode, stderr } = await run('ip', args, { timeoutMs: 10_000 })
    if (exitCode !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`)
  }
  const listening = 'for (const port of [80, 53]) require("net").createServer((one) => one.end()).listen(port)'
  t.after(async () => {
    host.kill('SIGKILL')
    await ip('netns', 'del', name)
  })
  await ip('netns', 'add', name)
  await ip('link', 'add', `${name}a`, 'type', 'veth', 'peer', 'name', `${name}b`, 'netns', name)
  await ip('addr', 'add', '198.18.255.1/30', 'dev', `${name}a`)
  await ip('link', 'set', `${name}a`, 'up')
  for (const device of ['lo', `${name}b`]) await ip('-n', name, 'link', 'set', device, 'up')
  await ip('-n', name, 'addr', 'add', '198.18.255.2/30', 'dev', `${name}b`)
  await ip('-n', name, 'addr', 'add', `${address}/32`, 'dev', 'lo')
  await ip('-n', name, 'route', 'add', 'default', 'via', '198.18.255.1')
  await ip('route', 'add', `${address}/32`, 'via', '198.18.255.2', 'dev', `${name}a`)
  const host = start('ip', ['netns', 'exec', name, process.execPath, '-e', listening], { stdio: 'ignore' })
  await until('the other host answers', async () => (await dialed(address, 80)) && (await dialed(address, 53)))
}

const dialed = (host: string, port: number): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout: 1000 })
  const end = (isOpen: boolean) => () => {
    socket.destroy()
    resolve(isOpen)
  }
  socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  return promise
}
