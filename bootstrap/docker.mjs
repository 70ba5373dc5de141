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
 * How to reach an engine: options of a request, out of QUAYSIDE_DOCKER_HOST (`unix:///path`, `/path`, `tcp://host:port`).
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
 * `answers`, `denied` (there, but not for this user) or `silent`.
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
 * Settings for an engine that has none yet: containers outlive a restart of the engine, and build caches do not fill the
 * disk. A file that is there belongs to somebody and stays as it is.
 */
export function writeEngineSettings(path = '/etc/docker/daemon.json') {
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  const settings = { 'live-restore': true, builder: { gc: { enabled: true, defaultKeepStorage: '10GB' } } }
  writeFileSync(path, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o644 })
}

/**
 * Starts the engine of this machine, `systemd` or `directly`, and waits until it answers. One that cannot start because it was killed
 * while it removed a network is mended. Needs root.
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
 * Whether something was found that kept the engine from starting.
 * @param {'systemd' | 'directly'} how
 */
async function mend(how) {
  if (findHalfRemoved().length === 0) return false
  // What is tried again and again would read what is just being written.
  if (how === 'systemd') await execute('systemctl', ['stop', 'docker.socket', 'docker.service'])
  if (isHeld(pidFile, 'dockerd')) return false
  for (const name of mendNetworkStore()) {
    console.log(`The Docker Engine was killed while it removed the network ${name}; mended`)
  }
  return true
}

async function startDirectly() {
  for (const [path, program] of Object.entries(pidFiles)) {
    if (!isHeld(path, program)) rmSync(path, { force: true })
  }
  // Somebody is starting it at this moment.
  if (isHeld(pidFile, 'dockerd')) return await waitForEngine(() => undefined)
  const log = openSync(logFile, 'a')
  // A session of its own: neither the end of this process nor Ctrl-C in its terminal ends the engine.
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
    // Of two that start at once, one ends; the other one is waited for.
    if (failure() && !isHeld(pidFile, 'dockerd')) break
  }
  const lines = readIfThere(logFile).trimEnd().split('\n').slice(-8).join('\n')
  throw new Refusal(
    `${lines}\n\nThe Docker Engine did not start (${failure() ?? 'no answer within 60 s'}). Its log is ${logFile}. Correct what it says, or start an engine yourself and name its socket in QUAYSIDE_DOCKER_HOST.`,
  )
}

/**
 * Whether the process that a pid file names runs and is that program: not gone, not only waiting to be reaped.
 * @param {string} path
 * @param {string} program
 */
function isHeld(path, program) {
  const pid = Number(readIfThere(path))
  return pid > 0 && isRunning(readIfThere(`/proc/${pid}/stat`), program)
}

/**
 * Out of the text of /proc/<pid>/stat: a zombie counts as ended, though its pid is still taken.
 * @param {string} stat
 * @param {string} program
 */
export function isRunning(stat, program) {
  const [, name, state] = /^\d+ \((.*)\) (\S)/.exec(stat) ?? []
  return name === program && state !== 'Z' && state !== 'X'
}
