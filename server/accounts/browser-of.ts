/** Words of `User-Agent` headers. The first that occurs names the browser. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iOS'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['Linux', 'Linux'],
] as const

const nameIn = (agent: string, names: readonly (readonly [string, string])[]): string | undefined =>
  names.find(([part]) => agent.includes(part))?.[1]

/** Pure: returns the name of a browser and its system, as far as its header says them. */
export function browserOf(agent: string): string {
  const [browser, system] = [nameIn(agent, browsers), nameIn(agent, systems)]
  if (browser === undefined) return agent === '' ? 'A browser' : agent.slice(0, 60)
  return system === undefined ? browser : `${browser} on ${system}`
}
