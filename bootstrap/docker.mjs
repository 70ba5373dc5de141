import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from './error-code.mjs'
import { execute, mustExecute } from './execute.mjs'
import { findHalfRemoved, mendNetworkStore } from './network-store.mjs'
import { Refusal } from './progress.mjs'
import { readIfThere } from './system.mjs'

/** @typedef {{ socketPath: string } | { host: string, port: number }} EngineAddress */

const defaultSocket = '/var/run/docker.sock'
const logFile = '/var/log/dockerd.log'
const pidFile = '/var/run/docker.pid'
const pidFiles = { [pidFile]: 'dockerd', '/var/run/docker/containerd/containerd.pid': 'containerd' }

/**
 * Returns the request options that reach an engine. QUAYSIDE_DOCKER_HOST is `unix:///path`, `/path`
 * or `tcp://host:port`.
 * @param {string | undefined} dockerHost
 * @returns {EngineAddress}
 */
export function engineAddress(dockerHost) {
  if (!dockerHost) return { socketPath: defaultSocket }
  const [, scheme, rest = dockerHost] = /^(?:(unix|tcp|http):\/\/)?(.+)$/.exec(dockerHost) ?? []
  if (scheme === 'tcp' || scheme === 'http') {
    const url = new URL(`http://${rest}`)
    return { host: url.hostname, port: Number(url.port || 2375) }
  }
  return { socketPath: rest }
}

/**
 * Returns whether the engine answers, denies this user access, or is silent.
 * @param {EngineAddress} address
 * @returns {Promise<'answers' | 'denied' | 'silent'>}
 */
export function pingEngine(address) {
  return new Promise((resolve) => {
    const ping = request({ ...address, path: '/_ping', timeout: 3000 }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200 ? 'answers' : 'silent')
    })
    ping.on('timeout', () => ping.destroy(new Error('no answer')))
    ping.on('error', (error) => resolve(codeOf(error) === 'EACCES' ? 'denied' : 'silent'))
    ping.end()
  })
}

/**
 * Writes settings for an engine that has none: containers survive a restart of the engine, and
 * build caches are limited. An existing file is unchanged.
 */
export function writeEngineSettings(path = '/etc/docker/daemon.json') {
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  const settings = { 'live-restore': true, builder: { gc: { enabled: true, defaultKeepStorage: '10GB' } } }
  writeFileSync(path, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o644 })
}

/**
 * Starts the engine of this machine and waits until it answers. If it cannot start because it was
 * killed while it removed a network, its store is repaired first. Needs root.
 * @param {'systemd' | 'directly'} how
 */
export async function startEngine(how) {
  const start = how === 'systemd' ? startBySystemd : startDirectly
  try {
    await start()
  } catch (error) {
    if (!(await mend(how))) throw error
    await start()
  }
}

async function startBySystemd() {
  const advice = 'Look at "journalctl -u docker", correct what it says, and try again.'
  await mustExecute('systemctl', ['enable', '--now', 'docker'], { advice })
  await waitForEngine(() => undefined)
}

/**
 * Repairs what kept the engine from starting. Returns whether something was repaired.
 * @param {'systemd' | 'directly'} how
 */
async function mend(how) {
  if (findHalfRemoved().length === 0) return false
  // systemd retries the start, and the engine would read the store while it is being written.
  if (how === 'systemd') await execute('systemctl', ['stop', 'docker.socket', 'docker.service'])
  if (isHeld(pidFile, 'dockerd')) return false
  for (const name of mendNetworkStore()) {
    console.log(`The Docker Engine was killed while it removed the network ${name}. Its store was repaired.`)
  }
  return true
}

async function startDirectly() {
  for (const [path, program] of Object.entries(pidFiles)) {
    if (!isHeld(path, program)) rmSync(path, { force: true })
  }
  // Another process is starting it.
  if (isHeld(pidFile, 'dockerd')) return await waitForEngine(() => undefined)
  const log = openSync(logFile, 'a')
  // In its own session the engine survives the end of this process and Ctrl-C in its terminal.
  const engine = spawn('dockerd', [], {
    detached: true,
    cwd: '/',
    stdio: ['ignore', log, log],
    env: engineEnvironment(),
  })
  /** @type {string | undefined} */
  let ended
  engine.on('error', (error) => {
    ended = error.message
  })
  engine.on('exit', (code) => {
    ended = `it ended with code ${code}`
  })
  engine.unref()
  await waitForEngine(() => ended)
}

function engineEnvironment() {
  const path = `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin`
  const kept = Object.entries(process.env).filter(([name]) => /^(https?|no|all)_proxy$/i.test(name))
  return { ...Object.fromEntries(kept), PATH: path }
}

/** @param {() => string | undefined} failure */
async function waitForEngine(failure) {
  for (const end = performance.now() + 60_000; performance.now() < end; await delay(100)) {
    if ((await pingEngine({ socketPath: defaultSocket })) === 'answers') return
    // If two start at once, one ends. Wait for the other.
    if (failure() && !isHeld(pidFile, 'dockerd')) break
  }
  const lines = readIfThere(logFile).trimEnd().split('\n').slice(-8).join('\n')
  throw new Refusal(
    `${lines}\n\nThe Docker Engine did not start (${failure() ?? 'no answer within 60 s'}). Its log is ${logFile}. ` +
      'Fix the problem, or start an engine yourself and set QUAYSIDE_DOCKER_HOST to its socket.',
  )
}

/**
 * Whether the process of a pid file runs that program.
 * @param {string} path
 * @param {string} program
 */
function isHeld(path, program) {
  const pid = Number(readIfThere(path))
  return pid > 0 && isRunning(readIfThere(`/proc/${pid}/stat`), program)
}

/**
 * Pure: whether /proc/<pid>/stat shows that program running. A zombie counts as ended.
 * @param {string} stat
 * @param {string} program
 */
export function isRunning(stat, program) {
  const [, name, state] = /^\d+ \((.*)\) (\S)/.exec(stat) ?? []
  return name === program && state !== 'Z' && state !== 'X'
}
