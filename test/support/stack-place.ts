import { makeEnvironment } from './application.ts'
import { usualSocket, viewEngine } from './engine-view.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import type { TestStack } from './stack.ts'
import { until } from './until.ts'

/**
 * A server under test with an environment, and direct access to the engine that runs its stacks.
 */
export interface StackPlace {
  readonly server: ServerProcess
  readonly environmentId: string
  /** The settings of the server. */
  readonly env: Readonly<Record<string, string>>
  /** Makes another environment on the same engine. */
  addEnvironment(name: string): Promise<string>
  /** Waits until the program of a phase runs, and returns its container. */
  running(stack: TestStack, phase: 'plan' | 'apply'): Promise<string>
  /** Lists the processes of such a container. */
  processes(container: string): Promise<string>
  /** Runs a shell script in such a container, and does not wait for it. */
  inside(container: string, script: string): Promise<void>
  /** Removes such a container at once. */
  remove(container: string): Promise<void>
  close(): Promise<void>
}

/** Opens a place with these settings. `name` tells places of tests apart. */
export type OpenStackPlace = (name: string, settings: Readonly<Record<string, string>>) => Promise<StackPlace>

/** Waits until the program of a phase runs on the Docker Engine, and returns its container. */
export const stackContainer = ({ id }: TestStack, phase: 'plan' | 'apply'): Promise<string> =>
  until(`the ${phase} of stack ${id} runs`, async () => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`quayside.service=${id}`] }))
    const found = await viewEngine(usualSocket).ask('GET', `/containers/json?filters=${filters}`)
    const all: { Id: string; Names: string[] }[] = Array.isArray(found) ? found : []
    return all.find(({ Names }) => Names.some((one) => one.endsWith(`-${phase}`)))?.Id
  })

/** Opens a place whose stacks run on the Docker Engine of this machine. */
export const openDockerPlace: OpenStackPlace = async (name, env) => {
  const server = await startServer({ env })
  const engine = viewEngine(usualSocket)
  return {
    server,
    env,
    environmentId: await makeEnvironment(server, name),
    addEnvironment: (other) => makeEnvironment(server, other),
    running: stackContainer,
    processes: async (container) => JSON.stringify(await engine.ask('GET', `/containers/${container}/top`)),
    inside: async (container, script) => {
      const made = await engine.ask('POST', `/containers/${container}/exec`, { Cmd: ['/bin/sh', '-c', script] })
      await engine.ask('POST', `/exec/${Object(made).Id}/start`, { Detach: true })
    },
    remove: async (container) => void (await engine.ask('DELETE', `/containers/${container}?force=true`)),
    close: () => server.close(),
  }
}
