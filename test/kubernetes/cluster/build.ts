import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { must } from './commands.ts'
import { packImage } from './pack-image.ts'
import {
  builderModule,
  buildKitCache,
  certManagerCache,
  certManagerKinds,
  helm4Cache,
  helm4Version,
  helmCache,
  helmVersion,
  images,
  ingressCache,
  ingressKinds,
  modules,
  programs,
  versions,
} from './settings.ts'

/** Names of the single program that has etcd and every part of Kubernetes that a node needs. */
const kubernetesNames = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
]

/** Go packages whose own module allows `go install`. */
const installed = {
  coredns: `github.com/coredns/coredns@v${versions.coredns}`,
  'local-path-provisioner': `github.com/rancher/local-path-provisioner@v${versions['local-path-provisioner']}`,
  'metrics-server': `sigs.k8s.io/metrics-server/cmd/metrics-server@v${versions['metrics-server']}`,
} as const

/** Programs with a cache of their own, so that a new version of one does not rebuild the others. */
const ownCaches: Readonly<Record<string, string>> = {
  traefik: ingressCache,
  helm: helmCache,
  'cert-manager': certManagerCache,
  buildkitd: buildKitCache,
  buildctl: buildKitCache,
}

/** A cold build of everything takes a quarter of an hour on two cores. */
const timeoutMs = 40 * 60_000
const env = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' }

/** Lists the programs that the cache lacks. Images are packed from them within seconds. */
export const listMissing = (): readonly string[] =>
  ['hyper', 'pause', ...Object.keys(installed), ...Object.keys(ownCaches), 'helm4'].filter(
    (name) => !existsSync(placeOf(name)),
  )

/** Programs of which an image is packed. */
const packed = ['pause', ...Object.keys(installed), 'traefik']

/** Both versions of Helm are called `helm`. */
const placeOf = (name: string): string =>
  name === 'helm4' ? join(helm4Cache, 'helm') : join(ownCaches[name] ?? programs, name)

/** Builds programs and images that the cache lacks. `say` gets a line before each long step. */
export async function build(say: (line: string) => void): Promise<void> {
  await Promise.all(
    [programs, images, helm4Cache, ...Object.values(ownCaches)].map((path) => mkdir(path, { recursive: true })),
  )
  await program('hyper', say, () => goBuild('hyper', { flags: kubernetesFlags() }))
  for (const name of kubernetesNames) {
    if (!existsSync(join(programs, name))) await symlink('hyper', join(programs, name))
  }
  await program('pause', say, () => goBuild('pause'))
  for (const [name, source] of Object.entries(installed)) {
    await program(name, say, () => goInstall(source, { to: programs }))
  }
  await program('helm', say, () => goInstall(helm, { to: helmCache, flags: helmFlags }))
  await program('helm4', say, () => goInstall(helm4, { to: helm4Cache, flags: helm4Flags }))
  const traefik = 'github.com/traefik/traefik/v3'
  await program('traefik', say, () => goBuild('traefik', { source: `${traefik}/cmd/traefik` }))
  if (!existsSync(ingressKinds)) await copyKinds(traefik)
  await program('cert-manager', say, () => goBuild('cert-manager'))
  for (const name of ['buildkitd', 'buildctl']) {
    const source = `github.com/moby/buildkit/cmd/${name}`
    await program(name, say, () => goBuild(name, { module: builderModule, source }))
  }
  if (!existsSync(certManagerKinds)) await copyCertManagerKinds()
  for (const name of packed) {
    await image(name, { Entrypoint: [`/${name}`] }, (folder) => copyFile(placeOf(name), join(folder, name)))
  }
  const config = { Env: ['PATH=/bin'], Cmd: ['/bin/sh'] }
  await image('busybox', config, copyBusybox)
  await image('tools', config, async (folder) => {
    await copyBusybox(folder)
    await copyTar(folder)
  })
}

async function program(name: string, say: (line: string) => void, make: () => Promise<unknown>): Promise<void> {
  if (existsSync(placeOf(name))) return
  say(`Building ${name} for tests on Kubernetes`)
  await make()
}

const helm = `helm.sh/helm/v3/cmd/helm@v${helmVersion}`
const helmFlags = `-X helm.sh/helm/v3/internal/version.version=v${helmVersion}`

const helm4 = `helm.sh/helm/v4/cmd/helm@v${helm4Version}`
const helm4Flags = `-X helm.sh/helm/v4/internal/version.version=v${helm4Version}`

/** Builds a program whose own module allows it, at this version. */
const goInstall = (source: string, { to, flags = '' }: { readonly to: string; readonly flags?: string }) =>
  must('go', ['install', '-trimpath', '-ldflags', `-s -w ${flags}`, source], {
    env: { ...env, GOBIN: to },
    timeoutMs,
  })

/** Builds a program from its module in `modules`: the module itself, or one that it requires. */
const goBuild = (name: string, { module = name, source = '.', flags = '' } = {}): Promise<string> =>
  must('go', ['build', '-trimpath', '-o', placeOf(name), '-ldflags', `-s -w ${flags}`, source], {
    cwd: join(modules, module),
    env,
    timeoutMs,
  })

/** Copies the definitions of Traefik's kinds from its module. */
async function copyKinds(traefik: string): Promise<void> {
  const place = await must('go', ['list', '-m', '-f', '{{.Dir}}', traefik], { cwd: join(modules, 'traefik'), env })
  const definitions = 'docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml'
  await copyFile(join(place.trim(), definitions), ingressKinds)
}

/** Copies the definitions of cert-manager's kinds from its module, where they are templates. */
async function copyCertManagerKinds(): Promise<void> {
  const cwd = join(modules, 'cert-manager')
  const place = await must('go', ['list', '-m', '-f', '{{.Dir}}', 'github.com/cert-manager/cert-manager'], { cwd, env })
  const from = join(place.trim(), 'deploy', 'crds')
  const files = (await readdir(from)).filter((name) => name.endsWith('.yaml'))
  const texts = await Promise.all(files.map((name) => readFile(join(from, name), 'utf8')))
  const half = `${certManagerKinds}.half`
  await writeFile(half, texts.map((text) => text.replaceAll(/'\{\{[^\n]*\}\}'/g, 'cert-manager')).join('\n---\n'))
  await rename(half, certManagerKinds)
}

/** Kubernetes reads its version from variables that the linker sets. */
function kubernetesFlags(): string {
  const [major = '', minor = ''] = versions.kubernetes.split('.')
  const values = {
    gitVersion: `v${versions.kubernetes}`,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
  }
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
    .flatMap((path) => Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`))
    .join(' ')
}

/** Packs an image of one layer, filled by `fill`, unless the cache has it. */
async function image(name: string, config: object, fill: (folder: string) => Promise<unknown>): Promise<void> {
  const file = imageArchive(name)
  if (existsSync(file)) return
  const folder = await mkdtemp(join(tmpdir(), 'quayside-image-'))
  try {
    await fill(folder)
    await packImage({ name: imageName(name), folder, config, file })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The archives of all images, by the names under which the node knows them. */
export const imageArchives = (): ReadonlyMap<string, string> =>
  new Map([...packed, 'busybox', 'tools'].map((name) => [imageName(name), imageArchive(name)]))

const imageArchive = (name: string): string => join(name === 'traefik' ? ingressCache : images, `${name}.tar`)

export const imageName = (name: string): string => `localhost/test/${name}:1`

/** Copies busybox with a name for each of its programs. */
async function copyBusybox(folder: string): Promise<void> {
  const copy = join(folder, 'bin', 'busybox')
  await mkdir(dirname(copy))
  const path = (await must('which', ['busybox'])).trim()
  await copyFile(path, copy)
  for (const applet of (await must(path, ['--list'])).trim().split('\n')) {
    if (applet !== 'busybox') await symlink('busybox', join(folder, 'bin', applet))
  }
  await mkdir(join(folder, 'tmp'), { mode: 0o1777 })
}

/** Replaces the `tar` of busybox by the one of this machine, with its libraries. */
async function copyTar(folder: string): Promise<void> {
  const path = (await must('which', ['tar'])).trim()
  await rm(join(folder, 'bin', 'tar'), { force: true })
  await copyFile(path, join(folder, 'bin', 'tar'))
  const libraries = (await must('ldd', [path])).match(/\/\S+(?= \()/g) ?? []
  for (const library of libraries) {
    const copy = join(folder, library)
    await mkdir(dirname(copy), { recursive: true })
    await copyFile(library, copy)
  }
}
