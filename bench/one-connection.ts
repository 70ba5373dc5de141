import postgres from 'postgres'

/** Opens one connection without a limit for statements, to a database at a unix socket. */
export function oneConnection(url: string): postgres.Sql {
  const { searchParams, pathname } = new URL(url)
  const host = searchParams.get('host') ?? ''
  return postgres({ host, username: 'quayside', database: pathname.slice(1), max: 1, onnotice: () => {} })
}
