import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { provideBuilder } from './builder-image.mjs'
import { findNode, installDependencies } from './dependencies.mjs'
import { engineAddress, pingEngine, startEngine, writeEngineSettings } from './docker.mjs'
import { handOver, mustExecute } from './execute.mjs'
import { main, Refusal, step } from './progress.mjs'
import { aptInstall, isInstalled, planSystem, readIfThere, unsupported, usesApt } from './system.mjs'
import { bringProgram, testPrograms } from './test-programs.mjs'

/** The directory that holds package.json. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Installs what the server needs. Returns the Node and the environment to run it with. `engine:
 * false` skips Docker and git. `testing: true` adds the programs of the tests. If nothing is
 * missing, this takes some milliseconds.
 */
export async function prepare({ engine = true, testing = false } = {}) {
  const reason = unsupported({ platform: process.platform, arch: process.arch, nodeVersion: process.versions.node })
  if (reason) throw new Refusal(reason)
  await installDependencies(root)
  const node = await findNode(root)
  if (engine) await prepareSystem()
  const programs = testing ? await bringPrograms() : []
  if (testing) await bringBuilder()
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH ?? '', ...programs].filter(Boolean).join(delimiter)
  // Node caches compiled sources between starts, and recompiles a changed source.
  const compiled = process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'quayside')
  return { node, env: { ...process.env, PATH: path, NODE_COMPILE_CACHE: compiled } }
}

/**
 * Runs a TypeScript program of this checkout with the arguments of this process, once all it needs
 * is available.
 * @param {string} path
 * @param {Parameters<typeof prepare>[0]} [options]
 */
export const runProgram = (path, options) =>
  main(async () => {
    const { node, env } = await prepare(options)
    return await handOver(node, [join(root, path), ...process.argv.slice(2)], env)
  })

/** Returns the directories of programs that only tests need, except those that are unavailable. */
async function bringPrograms() {
  const directories = []
  for (const program of testPrograms) {
    directories.push(await bringProgram(program, root, { isApt: isApt(), isRoot: process.getuid?.() === 0 }))
  }
  return directories.filter(Boolean)
}

/** Makes the image of the builder for tests. Without it they are skipped. */
async function bringBuilder() {
  try {
    await provideBuilder(root, { isApt: isApt(), isRoot: process.getuid?.() === 0 })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    console.log(`Tests with the platform's own BuildKit are skipped: ${error.message}`)
  }
}

/** Whether this machine's packages come from apt. */
export const isApt = () => usesApt(readIfThere('/etc/os-release')) && isInstalled('apt-get')

/** Installs git and starts a Docker Engine if they are missing. */
export async function prepareSystem() {
  const dockerHost = process.env.QUAYSIDE_DOCKER_HOST
  const plan = planSystem({
    isRoot: process.getuid?.() === 0,
    isApt: isApt(),
    hasGit: isInstalled('git'),
    hasDockerd: isInstalled('dockerd'),
    hasSystemd: existsSync('/run/systemd/system'),
    docker: await pingEngine(engineAddress(dockerHost)),
    dockerHost,
    user: userName(),
  })
  if (plan.refusal) throw new Refusal(plan.refusal)
  if (plan.startDocker) writeEngineSettings()
  if (plan.packages.length > 0) await installPackages(plan.packages)
  const { startDocker } = plan
  if (startDocker) await step('Starting the Docker Engine', () => startEngine(startDocker))
}

/**
 * Installs packages with apt. Needs root.
 * @param {string[]} packages
 */
export async function installPackages(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const advice = 'Check the network and the package sources of this machine, and try again.'
  const [program = 'apt-get', ...args] = aptInstall(packages)
  await step('Updating the list of packages', () => mustExecute('apt-get', ['update'], { env, advice }))
  await step(`Installing ${packages.join(' and ')} (about a minute)`, () => mustExecute(program, args, { env, advice }))
}

/**
 * Provides a program that makes images. Throws a Refusal with the command that would install it.
 * @param {string} program
 * @param {string[]} packages
 */
export async function provideProgram(program, packages) {
  if (isInstalled(program)) return
  if (isApt() && process.getuid?.() === 0) return await installPackages(packages)
  const advice = isApt() ? `sudo ${aptInstall(packages).join(' ')}` : 'use a machine with Debian or Ubuntu'
  throw new Refusal(
    `Making images needs the program ${program}: ${advice}. Images can be moved with "docker save" and "docker load".`,
  )
}

/** Returns the user's name, or a placeholder if the user id has no account. */
function userName() {
  try {
    return userInfo().username
  } catch {
    return '$USER'
  }
}
