import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { engineAddress } from './docker.mjs'
import { engineImages, recipeLabel } from './engine-images.mjs'
import { execute } from './execute.mjs'
import { fingerprint } from './image-recipes.mjs'
import { Refusal, step } from './progress.mjs'
import { aptInstall, isInstalled } from './system.mjs'
import { tarOf } from './tar-entries.mjs'
import { bringProgram } from './test-programs.mjs'

/**
 * The name by which the server finds the image (server/engines/docker/builder/builder-spec.ts). The
 * programs' versions are in images/builder/go.mod.
 */
export const builderReference = 'quayside/builder:1'

/** Programs of Go modules, and whether they need a C compiler and libseccomp. */
const goPrograms = [
  { source: 'github.com/moby/buildkit/cmd/buildkitd' },
  { source: 'github.com/moby/buildkit/cmd/buildctl' },
  { source: 'github.com/rootless-containers/rootlesskit/v3/cmd/rootlesskit' },
  { source: 'github.com/opencontainers/runc', inC: true },
]

/** The user that runs the daemon, and the further ids of its user namespace. */
const [user, firstId, ids] = [1000, 100_000, 2_000_000_000]
const home = 'home/user'

/**
 * Makes the image of BuildKit on the engine, from Go modules, unless it has the image of this
 * recipe. The published image `moby/buildkit` has the same programs; this one needs no registry.
 * Throws a Refusal if something for that is missing.
 * @param {string} root
 * @param {{ isApt: boolean, isRoot: boolean, again?: boolean }} machine
 * @returns {Promise<boolean>} whether the image was made
 */
export async function provideBuilder(root, { isApt, isRoot, again = false }) {
  const images = engineImages(engineAddress(process.env.QUAYSIDE_DOCKER_HOST))
  const recipe = fingerprint(root, ['builder'])
  if (!again && (await images.labelsOf(builderReference))?.[recipeLabel] === recipe) return false
  const programs = await buildPrograms(root, recipe, { isApt, isRoot })
  const mappers = await findMappers(root, { isApt, isRoot })
  const place = mkdtempSync(join(cache(), 'half-image-'))
  try {
    writeFileSync(join(place, 'image.tar'), tarOf(await entriesOf(programs, mappers)))
    const options = { reference: builderReference, recipe }
    await step(`Making the image ${builderReference}`, () =>
      images.importFrom(['cat', ['image.tar'], { cwd: place }], options),
    )
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
  return true
}

const cache = () => {
  const path = join(homedir(), '.cache', 'quayside')
  mkdirSync(path, { recursive: true })
  return path
}

/**
 * Returns the directory of the Go programs. They are kept between runs.
 * @param {string} root
 * @param {string} recipe
 * @param {{ isApt: boolean, isRoot: boolean }} machine
 */
async function buildPrograms(root, recipe, machine) {
  const place = join(cache(), `builder-${recipe}-${process.arch}`)
  if (existsSync(place)) return place
  if (!isInstalled('go')) {
    throw new Refusal('Building BuildKit needs Go, which this machine does not have. Install Go 1.26 or newer.')
  }
  await provideSeccomp(machine)
  const half = mkdtempSync(join(cache(), 'half-builder-'))
  try {
    await step('Building BuildKit from Go modules (about two minutes)', async () => {
      for (const { source, inC = false } of goPrograms) await build({ root, half, source, inC })
    })
    renameSync(half, place)
  } finally {
    rmSync(half, { recursive: true, force: true })
  }
  return place
}

/** @param {{ root: string, half: string, source: string, inC: boolean }} program */
async function build({ root, half, source, inC }) {
  const linked = inC ? ' -linkmode external -extldflags -static' : ''
  const tags = inC ? ['-tags', 'seccomp netgo osusergo'] : []
  const args = ['build', '-mod=mod', '-trimpath', ...tags, '-ldflags', `-s -w${linked}`, '-o', `${half}/`, source]
  const env = { ...process.env, CGO_ENABLED: inC ? '1' : '0', GOFLAGS: '-buildvcs=false' }
  const { code, output } = await execute('go', args, { cwd: join(root, 'images', 'builder'), env })
  if (code !== 0) throw new Refusal(`"go build ${source}" failed:\n${output.trim()}`)
}

/**
 * The library with which runc filters system calls.
 * @param {{ isApt: boolean, isRoot: boolean }} machine
 */
async function provideSeccomp({ isApt, isRoot }) {
  if (existsSync('/usr/include/seccomp.h') && isInstalled('gcc') && isInstalled('pkg-config')) return
  const packages = ['libseccomp-dev', 'gcc', 'libc6-dev', 'pkg-config']
  const command = aptInstall(packages)
  if (!isApt || !isRoot) {
    throw new Refusal(`Building runc needs a C compiler and libseccomp: sudo ${command.join(' ')}`)
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const [program = 'apt-get', ...args] = command
  await execute('apt-get', ['update'], { env })
  const { code, output } = await execute(program, args, { env })
  if (code !== 0) throw new Refusal(`"${command.join(' ')}" failed: ${output.trim().split('\n').at(-1)}`)
}

/**
 * Returns the directory of the two programs that give a user namespace its ids.
 * @param {string} root
 * @param {{ isApt: boolean, isRoot: boolean }} machine
 */
async function findMappers(root, machine) {
  if (isInstalled('newuidmap')) return '/usr/bin'
  const program = { name: 'newuidmap', from: 'uidmap', tests: 'Builds without rights on the machine' }
  const found = await bringProgram(program, root, machine)
  if (!found) throw new Refusal('The image of the builder needs the program newuidmap, of the package uidmap.')
  return found
}

/**
 * @param {string} programs
 * @param {string} mappers
 * @returns {Promise<import('./tar-entries.mjs').Entry[]>}
 */
async function entriesOf(programs, mappers) {
  const { code, output } = await execute('ldd', [join(mappers, 'newuidmap')])
  if (code !== 0) throw new Refusal(`"ldd newuidmap" failed: ${output.trim()}`)
  const words = output.split(/\s/)
  const libraries = words.filter((word, index) => word.startsWith('/') && words[index + 1]?.startsWith('(0x'))
  const names = ['buildkitd', 'buildctl', 'rootlesskit', 'runc']
  const files = [
    ...names.map((name) => ({ name: `usr/local/bin/${name}`, from: join(programs, name) })),
    ...libraries.map((path) => ({ name: path.slice(1), from: realpathSync(path) })),
  ]
  const texts = {
    'etc/passwd': `root:x:0:0:root:/:/sbin/nologin\nuser:x:${user}:${user}:user:/${home}:/sbin/nologin\n`,
    'etc/group': `root:x:0:\nuser:x:${user}:\n`,
    'etc/subuid': `user:${firstId}:${ids}\n`,
    'etc/subgid': `user:${firstId}:${ids}\n`,
  }
  const owned = [home, `${home}/.local`, `${home}/.local/share`, `${home}/.local/share/buildkit`, `run/user/${user}`]
  const directories = [...files.map(({ name }) => name), 'usr/bin/x', 'etc/x', 'home/x', 'run/user/x'].flatMap(parents)
  return [
    ...[...new Set(directories)].sort().map((name) => ({ name: `${name}/`, mode: 0o755 })),
    { name: 'tmp/', mode: 0o1777 },
    ...owned.map((name) => ({ name: `${name}/`, mode: 0o755, owner: user })),
    ...files.map(({ name, from }) => ({ name, mode: 0o755, content: readFileSync(from) })),
    ...Object.entries(texts).map(([name, text]) => ({ name, mode: 0o644, content: Buffer.from(text) })),
    // With the set-user-ID bit, the program would not own the namespace, and may not change it.
    mapper('newuidmap', mappers, capability.setuid),
    mapper('newgidmap', mappers, capability.setgid),
  ]
}

/** Numbers of capabilities, from linux/capability.h. */
const capability = { setgid: 6, setuid: 7 }

/**
 * @param {string} name
 * @param {string} directory
 * @param {number} number
 */
function mapper(name, directory, number) {
  const capabilities = Buffer.alloc(20)
  // Version 2, effective; then the permitted ones.
  capabilities.writeUInt32LE(0x02000001, 0)
  capabilities.writeUInt32LE(2 ** number, 4)
  return { name: `usr/bin/${name}`, mode: 0o755, content: readFileSync(join(directory, name)), capabilities }
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function parents(path) {
  const parent = dirname(path)
  return parent === '.' ? [] : [...parents(parent), parent]
}
