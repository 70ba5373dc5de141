import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execute } from './execute.mjs'
import { Refusal } from './progress.mjs'

/** The keys of Debian's archive, from its package debian-archive-keyring. */
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/**
 * A release of Debian by its name, such as `trixie`. `newer` names one package that comes from
 * another suite, such as `experimental`, which has few packages of its own.
 * @typedef {{ suite: string, newer?: { suite: string, name: string } }} Release
 */

/**
 * Calls `work` with the packages of a release of Debian. apt reads them from a directory of their
 * own, so the lists, the pins and the installed packages of this machine are neither read nor
 * changed. Throws a Refusal if the lists cannot be read.
 * @template T
 * @param {Release} release
 * @param {(packages: Packages) => Promise<T>} work
 * @param {{ run?: typeof execute, keys?: string }} [options]
 * @returns {Promise<T>}
 */
export async function withPackagesOf({ suite, newer }, work, { run = execute, keys = keyring } = {}) {
  if (!existsSync(keys)) throw new Refusal(`${keys} is missing (apt-get install debian-archive-keyring)`)
  const place = await mkdtemp(join(tmpdir(), 'quayside-packages-'))
  try {
    // apt reads the network as a user of its own.
    await chmod(place, 0o755)
    for (const path of ['lists/partial', 'cache/archives/partial']) await mkdir(join(place, path), { recursive: true })
    const sources = [suite, ...(newer ? [newer.suite] : [])].map(
      (name) => `deb [signed-by=${keys}] http://deb.debian.org/debian ${name} main\n`,
    )
    await writeFile(join(place, 'sources.list'), sources.join(''))
    const pin = newer ? `Package: ${newer.name}\nPin: release a=${newer.suite}\nPin-Priority: 990\n` : ''
    await writeFile(join(place, 'preferences'), pin)
    const packages = new Packages(place, run)
    await packages.update()
    return await work(packages)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

/** The packages of one release of Debian. */
export class Packages {
  #options
  #run

  /**
   * @param {string} place
   * @param {typeof execute} run
   */
  constructor(place, run) {
    const options = {
      'Dir::Etc::SourceList': join(place, 'sources.list'),
      'Dir::Etc::SourceParts': '/dev/null',
      'Dir::Etc::Preferences': join(place, 'preferences'),
      'Dir::Etc::PreferencesParts': '/dev/null',
      'Dir::State::Lists': join(place, 'lists'),
      'Dir::State::status': '/dev/null',
      'Dir::Cache': join(place, 'cache'),
      // Descriptions of programs for their users.
      'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
      'Acquire::Languages': 'none',
    }
    this.#options = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
    this.#run = run
  }

  async update() {
    await this.#apt('apt-get', ['update', '--error-on=any'])
  }

  /**
   * Returns the version of a package.
   * @param {string} name
   */
  async versionOf(name) {
    const version = candidateIn(await this.#apt('apt-cache', ['policy', name]))
    if (version === undefined) throw new Refusal(`this release has no package ${name}`)
    return version
  }

  /**
   * Lists the libraries that a package needs, directly or through other libraries.
   * @param {string} name
   */
  async librariesOf(name) {
    /** @type {Set<string>} */
    const libraries = new Set()
    for (let names = [name]; names.length > 0; ) {
      const needed = librariesIn(await this.#apt('apt-cache', ['depends', '--important', ...names]))
      names = needed.filter((library) => !libraries.has(library))
      for (const library of names) libraries.add(library)
    }
    return [...libraries].sort()
  }

  /**
   * Downloads packages, whose checksums apt compares, and unpacks them below a directory.
   * @param {string[]} names
   * @param {string} directory
   */
  async unpack(names, directory) {
    const archives = await mkdtemp(join(tmpdir(), 'quayside-archives-'))
    try {
      await this.#apt('apt-get', ['download', ...names], archives)
      for (const file of await readdir(archives)) {
        await must(this.#run, 'dpkg-deb', ['--extract', join(archives, file), directory])
      }
    } finally {
      await rm(archives, { recursive: true, force: true })
    }
  }

  /**
   * @param {'apt-get' | 'apt-cache'} program
   * @param {string[]} args
   * @param {string} [cwd]
   */
  #apt(program, args, cwd) {
    const env = { ...process.env, LC_ALL: 'C.UTF-8' }
    return must(this.#run, program, [...args, ...this.#options], { env, ...(cwd !== undefined && { cwd }) })
  }
}

/**
 * Runs a program and returns its output. Throws a Refusal of one line if it fails.
 * @param {typeof execute} run
 * @param {string} program
 * @param {string[]} args
 * @param {import('./execute.mjs').Options} [options]
 */
export async function must(run, program, args, options) {
  const { code, output } = await run(program, args, options)
  if (code === 0) return output
  const lines = output.trim().split('\n')
  const reason = lines.find((line) => /^[EW]: /.test(line)) ?? lines.at(-1)
  throw new Refusal(`"${program} ${args[0]}" failed: ${reason}`)
}

/**
 * Pure: returns the version that `apt-cache policy` reports. Undefined if there is none.
 * @param {string} text
 */
export function candidateIn(text) {
  const version = /^ {2}Candidate: (\S+)$/m.exec(text)?.[1]
  return version === '(none)' ? undefined : version
}

/**
 * Pure: returns the libraries among the packages that `apt-cache depends` reports.
 * @param {string} text
 */
export function librariesIn(text) {
  const needed = [...text.matchAll(/^ [ |](?:Pre)?Depends: (\S+)$/gm)].map(([, name = '']) => name)
  return [...new Set(needed.filter((name) => /^z?lib/.test(name)))]
}
