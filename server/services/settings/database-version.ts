import type { DatabaseType } from '@quayside/contract/services/database.ts'

/**
 * The rules of each database type: its display name, the tools that copy data between versions, and
 * which other versions it opens.
 */
const rules: Record<
  DatabaseType,
  {
    readonly name: string
    readonly tools: string
    readonly opensOlderMajor: boolean
    readonly opensNewerMinor: boolean
  }
> = {
  POSTGRESQL: {
    name: 'PostgreSQL',
    tools: 'pg_dump and psql',
    opensOlderMajor: false,
    opensNewerMinor: true,
  },
  MYSQL: { name: 'MySQL', tools: 'mysqldump and mysql', opensOlderMajor: false, opensNewerMinor: false },
  MONGODB: { name: 'MongoDB', tools: 'mongodump and mongorestore', opensOlderMajor: false, opensNewerMinor: false },
  REDIS: { name: 'Redis', tools: 'redis-cli --rdb', opensOlderMajor: true, opensNewerMinor: false },
}

/**
 * Returns why one version cannot open data that another one wrote, and what to do. Undefined if it
 * can.
 */
export function versionRefusal(
  type: DatabaseType,
  { from, to, name }: { readonly from: string; readonly to: string; readonly name: string },
): string | undefined {
  const rule = rules[type]
  if (!isMajorChange(from, to) && (rule.opensNewerMinor || !isOlder(to, from))) return undefined
  if (isMajorChange(from, to) && rule.opensOlderMajor && !isOlder(to, from)) return undefined
  return (
    `"${name}" has data of ${rule.name} ${from}, which ${rule.name} ${to} does not open. ` +
    `Create another database with version ${to}, and dump and restore the data (${rule.tools}); or uninstall ` +
    'this one, which erases its data.'
  )
}

const numbersOf = (version: string): number[] => version.split(/[.-]/).map(Number).filter(Number.isInteger)

const isMajorChange = (from: string, to: string): boolean => numbersOf(from)[0] !== numbersOf(to)[0]

/** Compares only the numbers that both versions have: `8` is not older than `8.4`. */
function isOlder(version: string, than: string): boolean {
  const other = numbersOf(than)
  for (const [index, number] of numbersOf(version).entries()) {
    const against = other[index]
    if (against === undefined || against !== number) return against !== undefined && number < against
  }
  return false
}
