import type { Component, ComponentVersion, EngineVersions } from './known-holes.ts'

const components: Readonly<Record<string, Component>> = {
  Engine: 'engine',
  containerd: 'containerd',
  runc: 'runc',
  buildkit: 'buildkit',
  BuildKit: 'buildkit',
}

/**
 * Pure: reads the answer to `GET /version` of an engine. `packages` are installed versions of
 * Debian packages by component. One counts only if it continues the version that the engine
 * reports: the engine may run elsewhere, or have been installed in another way.
 */
export function engineVersions(
  answer: unknown,
  packages: Readonly<Partial<Record<Component, string>>> = {},
): EngineVersions {
  const listed: unknown = Object(answer).Components
  const found: Partial<Record<Component, ComponentVersion>> = {}
  for (const part of Array.isArray(listed) ? listed : []) {
    const { Name, Version, Details } = Object(part)
    const component = components[String(Name)]
    if (component === undefined || typeof Version !== 'string') continue
    // Debian's builds report their package here, others a commit.
    const named = [Object(Details).GitCommit, packages[component]].find((text) => isPackageOf(text, Version))
    found[component] = { version: Version, ...(typeof named === 'string' && { package: named }) }
  }
  return found
}

const isPackageOf = (text: unknown, version: string): boolean =>
  typeof text === 'string' && version !== '' && text.startsWith(`${version}-`)

/** The Debian package of each component. BuildKit is inside of `docker.io`. */
const packagedAs: ReadonlyMap<string, Component> = new Map([
  ['docker.io', 'engine'],
  ['containerd', 'containerd'],
  ['runc', 'runc'],
])

export const debianPackages: readonly string[] = [...packagedAs.keys()]

/** Pure: reads lines such as `runc 1.1.5+ds1-1+deb12u1`, as `dpkg-query` prints them. */
export function installedPackages(lines: string): Readonly<Partial<Record<Component, string>>> {
  const found: Partial<Record<Component, string>> = {}
  for (const line of lines.split('\n')) {
    const [name = '', version = ''] = line.split(' ')
    const component = packagedAs.get(name)
    if (component && version) found[component] = version
  }
  return found
}
