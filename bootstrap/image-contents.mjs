import {
  chmodSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { openCheckout } from './checkout.mjs'
import { mustExecute } from './execute.mjs'
import { debianPackages, filesOf, leftOut, packagesOf, user } from './image-parts.mjs'
import { base } from './image-recipes.mjs'

/**
 * Makes the file system of Debian packages with Node.js and other programs. Returns the packages.
 * @param {string} directory
 * @param {import('./image-parts.mjs').Part} part
 * @param {{ name: string, path: string }[]} programs
 */
export async function makeSystem(directory, part, programs) {
  const mirror = process.env.QUAYSIDE_DEBIAN_MIRROR
  const without = leftOut.paths.map((path) => `--dpkgopt=path-exclude=${path}`)
  const args = ['--quiet', '--variant=extract', '--skip=cleanup/apt', `--include=${part.packages.join(',')}`]
  const advice = 'Check the network and the package sources of this machine.'
  const all = [...args, ...without, base.suite, `${directory}.debian`, ...(mirror ? [mirror] : [])]
  await mustExecute('mmdebstrap', all, { advice })
  const from = `${directory}.debian`
  const debian = debianPackages(readdirSync(join(from, 'var/cache/apt/archives')))
  mkdirSync(directory)
  for (const name of readdirSync(from).filter((name) => /^(?:bin|lib|lib64|usr)$/.test(name))) {
    cpSync(join(from, name), join(directory, name), { recursive: true, verbatimSymlinks: true })
  }
  writeAccounts(directory)
  writeAuthorities(from, directory)
  for (const name of ['tmp', 'data', 'app', 'usr/local/bin']) mkdirSync(join(directory, name), { recursive: true })
  for (const name of ['tmp', 'data']) chmodSync(join(directory, name), 0o1777)
  for (const { name, path } of programs) {
    copyFileSync(realpathSync(path), join(directory, 'usr/local/bin', name))
    chmodSync(join(directory, 'usr/local/bin', name), 0o755)
  }
  return debian
}

/** @param {string} directory */
function writeAccounts(directory) {
  mkdirSync(join(directory, 'etc'))
  const { name, id } = user
  /** @type {Record<string, string>} */
  const files = {
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\n${name}:x:${id}:${id}::/tmp:/usr/sbin/nologin\n`,
    group: `root:x:0:\n${name}:x:${id}:\n`,
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  }
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(directory, 'etc', file), text)
    chmodSync(join(directory, 'etc', file), 0o644)
  }
}

/**
 * Writes the certificate authorities where git looks for them. The scripts of the package, which
 * did not run, would write the same.
 * @param {string} from
 * @param {string} directory
 */
function writeAuthorities(from, directory) {
  const source = join(from, 'usr/share/ca-certificates/mozilla')
  if (!lstatSync(source, { throwIfNoEntry: false })) return
  const names = readdirSync(source).sort()
  mkdirSync(join(directory, 'etc/ssl/certs'), { recursive: true })
  const text = names.map((name) => readFileSync(join(source, name), 'utf8').trimEnd()).join('\n')
  writeFileSync(join(directory, 'etc/ssl/certs/ca-certificates.crt'), `${text}\n`, { mode: 0o644 })
}

/**
 * Copies the files of the platform and the packages that it needs.
 * @param {string} root
 * @param {string} directory
 * @param {import('./image-parts.mjs').Part} part
 * @param {string} bom
 */
export async function makeFiles(root, directory, part, bom) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const listed = (await openCheckout(root).git('ls-files', '--cached', '--others', '--exclude-standard')).split('\n')
  for (const path of filesOf(listed, part)) {
    const target = join(directory, 'app', path)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(root, path), target)
  }
  for (const path of part.built) cpSync(join(root, path), join(directory, 'app', path), { recursive: true })
  for (const path of packagesOf(packages, part.workspaces)) {
    const target = join(directory, 'app', path)
    mkdirSync(dirname(target), { recursive: true })
    if (packages[path].link) symlinkSync(`../../${packages[path].resolved}`, target)
    else cpSync(join(root, path), target, { recursive: true, filter: (file) => isOfPackage(join(root, path), file) })
  }
  writeFileSync(join(directory, 'app', 'sbom.cdx.json'), bom)
}

/**
 * A package inside a package is one of its own in the lockfile.
 * @param {string} directory
 * @param {string} file
 */
const isOfPackage = (directory, file) => !file.slice(directory.length).startsWith('/node_modules')
