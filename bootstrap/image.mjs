// `npm run image`: makes the images of the server and the router from this checkout and packages of
// Debian, without a registry. `-- router` makes one of them. `-- --push HOST/PATH` sends them to a
// registry, by digest.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openCheckout } from './checkout.mjs'
import { buildConsole } from './console.mjs'
import { findNode, installDependencies, npmCommand } from './dependencies.mjs'
import { engineAddress, pingEngine } from './docker.mjs'
import { engineImages } from './engine-images.mjs'
import { handOver } from './execute.mjs'
import { packLayer, writeArchive } from './image-archive.mjs'
import { makeFiles, makeSystem } from './image-contents.mjs'
import { chosenParts } from './image-options.mjs'
import { parts, user } from './image-parts.mjs'
import { programOf } from './image-recipes.mjs'
import { billOfMaterials } from './image-sbom.mjs'
import { provideProgram, root } from './prepare.mjs'
import { main, Refusal, step } from './progress.mjs'

const output = join(root, '.images')
/** @type {Record<string, string>} */
const architectures = { x64: 'amd64', arm64: 'arm64' }

await main(async () => {
  const { names, push } = chosenParts(process.argv.slice(2))
  await installDependencies(root)
  await provideProgram('mmdebstrap', ['mmdebstrap', 'debian-archive-keyring'])
  const node = await findNode(root)
  const problem = await buildConsole(root, node)
  if (problem) throw new Refusal(`The console was not built:\n${problem}`)
  const version = await versionOfCheckout()
  const engine = engineAddress(process.env.QUAYSIDE_DOCKER_HOST)
  const hasEngine = (await pingEngine(engine)) === 'answers'
  if (push && !hasEngine) {
    throw new Refusal('Pushing needs a Docker Engine that keeps the images meanwhile. Start it with "npm start".')
  }
  mkdirSync(output, { recursive: true })
  for (const name of names) {
    const reference = `quayside/${name}:${version}`
    const file = join(output, `${name}.tar`)
    const digest = await step(`Making ${reference}`, () => make({ name, reference, version, node, file }))
    console.log(`${reference} is ${file}, ${digest}`)
    if (hasEngine) await engineImages(engine).load(['cat', [file], { cwd: root }])
    if (!push) continue
    const args = [join(root, 'server', 'start', 'push-image.ts'), reference, `${push}/${name}`]
    const code = await handOver(node, args, process.env)
    if (code !== 0) return code
  }
  return 0
})

/** Returns the version with the commit, and a mark if files were changed since. */
async function versionOfCheckout() {
  const { git } = openCheckout(root)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const folders = ['client', 'console', 'contract', 'router', 'server', 'examples']
  const changed = await git('status', '--porcelain', '--', ...folders, 'package.json')
  return `${version}-${(await git('rev-parse', '--short=12', 'HEAD')).trim()}${changed === '' ? '' : '-changed'}`
}

/**
 * @param {{ name: string, reference: string, version: string, node: string, file: string }} image
 */
async function make({ name, reference, version, node, file }) {
  const part = parts[name]
  const architecture = architectures[process.arch]
  if (!part || !architecture) throw new Refusal(`There is no image "${name}" for ${process.arch}.`)
  const scratch = mkdtempSync(join(tmpdir(), 'quayside-image-'))
  try {
    const programs = await findPrograms(part, name)
    const debian = await makeSystem(join(scratch, 'system'), part, [{ name: 'node', path: node }, ...programs])
    const bom = billOfMaterials(await npmList(part), {
      name: `quayside/${name}`,
      version,
      node: (await promisify(execFile)(node, ['--version'])).stdout.trim().slice(1),
      programs,
      debian,
    })
    const text = `${JSON.stringify(bom, null, 2)}\n`
    writeFileSync(join(output, `${name}.cdx.json`), text)
    await makeFiles(root, join(scratch, 'files'), part, text)
    return await writeArchive({
      reference,
      architecture,
      scratch,
      file,
      layers: [
        await packLayer(join(scratch, 'system'), join(scratch, 'system.tar')),
        await packLayer(join(scratch, 'files'), join(scratch, 'files.tar'), ['--mode=u=rwX,go=rX']),
      ],
      config: configOf(part, name, version),
    })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/**
 * Returns the programs of this machine for an image, with their versions.
 * @param {import('./image-parts.mjs').Part} part
 * @param {string} image
 */
async function findPrograms({ programs }, image) {
  const found = []
  for (const { program: name, setting, version, lacking } of programs) {
    const path = programOf({ program: name, setting }, process.env)
    if (path === undefined) {
      const advice = `Install it on this machine, or set ${setting} to its path.`
      console.log(`The image of the ${image} gets no program "${name}", so ${lacking}. ${advice}`)
      continue
    }
    const { stdout } = await promisify(execFile)(path, version)
    found.push({ name, path, version: stdout.trim().replace(/^v/, '') })
  }
  return found
}

/**
 * @param {import('./image-parts.mjs').Part} part
 * @param {string} name
 * @param {string} version
 */
function configOf(part, name, version) {
  return {
    User: `${user.id}:${user.id}`,
    WorkingDir: '/tmp',
    Env: [
      'PATH=/usr/local/bin:/usr/bin:/bin',
      'HOME=/tmp',
      'LANG=C.UTF-8',
      'MALLOC_ARENA_MAX=1',
      'NODE_ENV=production',
      ...part.environment,
    ],
    Entrypoint: part.command,
    ExposedPorts: Object.fromEntries(part.ports.map((port) => [`${port}/tcp`, {}])),
    Labels: { 'org.opencontainers.image.title': `quayside ${name}`, 'org.opencontainers.image.version': version },
  }
}

/** @param {import('./image-parts.mjs').Part} part */
async function npmList({ workspaces }) {
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev', '--package-lock-only']
  const [program, all] = npmCommand([...args, ...workspaces.flatMap((name) => ['-w', name])])
  const { stdout } = await promisify(execFile)(program, all, { cwd: root, maxBuffer: 64 * 1024 ** 2 })
  return JSON.parse(stdout)
}
