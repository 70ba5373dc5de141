import { dirname, join } from 'node:path'

/** The files of the program in front of a router. All are in one folder of its own. */
export interface FrontFiles {
  readonly folder: string
  readonly configuration: string
  /** The output of its last start. */
  readonly log: string
  /** The socket on which it accepts commands. */
  readonly admin: string
  /** The socket on which the router accepts its connections. */
  readonly own: string
  /** The list of certificates. Its lines exist in memory only, so it is empty. */
  readonly certificates: string
  readonly maps: Readonly<Record<'plain' | 'secure' | 'shares', string>>
}

/** Returns the files beside a control socket. Successors of a router have the same ones. */
export function frontFiles(control: string): FrontFiles {
  const folder = join(dirname(control), 'front')
  const file = (name: string): string => join(folder, name)
  return {
    folder,
    configuration: file('haproxy.cfg'),
    log: file('haproxy.log'),
    admin: file('admin.sock'),
    own: file('own.sock'),
    certificates: file('certificates.list'),
    maps: { plain: file('plain.map'), secure: file('secure.map'), shares: file('shares.map') },
  }
}
