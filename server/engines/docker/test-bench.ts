import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import type { EngineBench, Program } from '../engine.cases.ts'
import type { LogLine, LongRunning } from '../engine.ts'
import { listContainers, removeContainer, startContainer } from './containers.ts'
import { DockerDaemon, isRefusal } from './daemon.ts'
import type { ContainerInspectInfo, HostConfig } from './docker-api.ts'
import { DockerEngine } from './docker-engine.ts'
import { label, labelFilter } from './labels.ts'

/** The engine under test, with direct access to its daemon. */
export interface DockerBench extends EngineBench {
  readonly engine: DockerEngine
  readonly instance: string
  /** Creates a second engine object of the same installation, or one of another. */
  anotherEngine(instance?: string): DockerEngine
  inspect(container: string): Promise<ContainerInspectInfo>
  /** Returns the daemon's default settings for a container. */
  defaultHostConfig(): Promise<HostConfig>
  createBare(name: string): Promise<void>
  exists(path: string): Promise<boolean>
  countNetworks(name: string): Promise<number>
  lines(service: string): Promise<LogLine[]>
  /** The same installation behind a socket whose connections can be cut. */
  proxy(): Promise<{ engine: DockerEngine; cut(): void; close(): Promise<void> }>
  /** Removes all containers, networks and volumes of this bench. */
  reset(): Promise<void>
}

const limit = (): AbortSignal => AbortSignal.timeout(120_000)

/** The command with which the test image runs a program. */
export const node = (source: string) => ({ entrypoint: ['node', '-e'], arguments: [source] })

/**
 * A server that prints "up" when it listens and ends at once when asked to. `failsAfter`: the
 * number of requests that succeed.
 */
export function serve(
  port: number,
  options: {
    readonly host?: string
    readonly status?: number
    readonly afterMs?: number
    readonly failsAfter?: number
  } = {},
): string {
  const { host = '0.0.0.0', status = 200, afterMs = 0, failsAfter = 1e9 } = options
  const server = `let n=0;const server=require('http').createServer((q,s)=>{s.statusCode=n++<${failsAfter}?${status}:500;s.end('ok')})`
  const listen = `setTimeout(()=>server.listen(${port},${JSON.stringify(host)},()=>console.log('up')),${afterMs})`
  return `process.on('SIGTERM',()=>process.exit(0));${server};${listen}`
}

const size = `const size=()=>console.log('size '+process.stdout.columns+'x'+process.stdout.rows)`
const answer = `(line)=>line==='exit'?process.exit(0):console.log('said '+line)`
const reader = `require('readline').createInterface({input:process.stdin}).on('line',${answer})`

/** The commands of the suite of terminals. */
export const shellCommands = {
  terminalCommand: ['node', '-e', `${size};setTimeout(size,200);process.stdout.on('resize',size);${reader}`],
  echoCommand: [
    'node',
    '-e',
    `process.stdin.on('data',(chunk)=>process.stdout.write(chunk)).on('end',()=>{process.exitCode=3})`,
  ],
}

const spin = `(function spin(){const end=Date.now()+50;while(Date.now()<end);setImmediate(spin)})()`

/** Returns a program that uses all its CPU. */
export const busy = (web: LongRunning): LongRunning => ({ ...web, cpuMilli: 300, ...node(`${serve(8080)};${spin}`) })

const programs: Record<Exclude<Program, 'image-missing'>, string> = {
  web: serve(8080),
  crash: `console.log('boom');process.exitCode=3`,
  'never-listens': `process.on('SIGTERM',()=>process.exit(0));setInterval(()=>{},1e6)`,
  portless: `process.on('SIGTERM',()=>process.exit(0));setInterval(()=>{},1e6)`,
  'out-of-memory': `const kept=[];for(;;)kept.push(Buffer.alloc(1e7,1))`,
}

/** The settings of a program of the suites. */
export function workloadOf(image: string, program: Program): LongRunning {
  return {
    shape: 'long-running',
    image: program === 'image-missing' ? 'quayside-engine-test/missing:1' : image,
    ...node(program === 'image-missing' ? '' : programs[program]),
    variables: {},
    files: [],
    replicas: { min: 1, max: 1 },
    cpuMilli: 500,
    memoryMiB: 128,
    ports: program === 'portless' ? [] : [{ name: 'web', internalPort: 8080, protocol: 'HTTP' }],
    probes: {},
    storage: [],
    aliases: [],
    stopGraceSeconds: 5,
    startDeadlineSeconds: 120,
  }
}

export async function openDockerBench(options: {
  readonly socketPath: string
  readonly image: string
}): Promise<DockerBench> {
  const { socketPath, image } = options
  const instance = `test-${newId().slice(-8)}`
  const clock = systemClock
  const daemon = new DockerDaemon({ socketPath, clock })
  const engine = new DockerEngine({ socketPath, instance, clock })
  const at = (path: string) => daemon.json({ method: 'GET', path, signal: limit() })
  // Docker's published API guarantees this shape.
  const inspect = async (container: string) => (await at(`/containers/${container}/json`)) as ContainerInspectInfo
  const createBare = (name: string) =>
    daemon.send({
      method: 'POST',
      path: '/containers/create',
      query: { name },
      body: { Image: image, Cmd: ['node'], Labels: { [label.instance]: `${instance}-bare` } },
      signal: limit(),
    })
  /** The installations whose objects this bench removes. */
  const instances = new Set([instance, `${instance}-bare`])
  const reset = (): Promise<void> => eraseAll(daemon, [...instances])
  return {
    engine,
    instance,
    inspect,
    createBare,
    reset,
    close: reset,
    workload: (program) => workloadOf(image, program),
    answers: async ({ address, port }) => (await fetch(`http://${address}:${port}/`, { signal: limit() })).ok,
    commands: {
      printVariable: (name) => ['node', '-e', `process.stdout.write(process.env[${JSON.stringify(name)}])`],
      printFile: (path) => ['node', '-e', `process.stdout.write(fs.readFileSync(${JSON.stringify(path)}))`],
      exitWith: (code) => ['node', '-e', `process.exit(${code})`],
    },
    remove: (replica) => removeContainer(daemon, replica, limit()),
    anotherEngine: (other) => {
      const own = other ? `${instance}-${other}` : instance
      instances.add(own)
      return new DockerEngine({ socketPath, instance: own, clock })
    },
    defaultHostConfig: async () => {
      const name = `${instance}-default`
      await createBare(name)
      await startContainer(daemon, name, limit())
      const { HostConfig } = await inspect(name)
      await removeContainer(daemon, name, limit())
      return HostConfig
    },
    exists: (path) =>
      at(path).then(
        () => true,
        (error) => {
          if (isRefusal(error, 404)) return false
          throw error
        },
      ),
    countNetworks: async (name) => {
      const networks = await daemon.json({
        method: 'GET',
        path: '/networks',
        query: { filters: { name: [name] } },
        signal: limit(),
      })
      return Array.isArray(networks) ? networks.length : -1
    },
    lines: async (service) => {
      const lines: LogLine[] = []
      for await (const line of engine.logs(service, { follow: false }, limit())) lines.push(line)
      return lines
    },
    proxy: () => openProxy(socketPath, instance),
  }
}

async function eraseAll(daemon: DockerDaemon, instances: readonly string[]): Promise<void> {
  for (const instance of instances) await eraseInstance(daemon, instance)
}

async function eraseInstance(daemon: DockerDaemon, instance: string): Promise<void> {
  const containers = await listContainers(daemon, { instance }, limit())
  await Promise.all(containers.map(({ Id }) => removeContainer(daemon, Id, limit())))
  // The engine prunes one thing at a time, and other tests use it meanwhile.
  const query = { filters: labelFilter(instance) }
  const list = async (path: string) => Object(await daemon.json({ method: 'GET', path, query, signal: limit() }))
  const networks: { Id: string }[] = await list('/networks')
  const { Volumes: volumes }: { Volumes: { Name: string }[] | null } = await list('/volumes')
  const paths = [
    ...networks.map(({ Id }) => `/networks/${Id}`),
    ...(volumes ?? []).map(({ Name }) => `/volumes/${Name}`),
  ]
  await Promise.all(paths.map((path) => daemon.send({ method: 'DELETE', path, signal: limit() })))
}

async function openProxy(socketPath: string, instance: string) {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-proxy-'))
  const path = join(directory, 'docker.sock')
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(socketPath)
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        sockets.delete(socket)
      })
    }
  }).listen(path)
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    engine: new DockerEngine({ socketPath: path, instance, clock: systemClock }),
    cut,
    close: async () => {
      cut()
      server.close()
      await rm(directory, { recursive: true })
    },
  }
}
