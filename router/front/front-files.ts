import { dirname, join, resolve } from 'node:path'

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
  /** The list of certificates with which it starts. Later lines exist in its memory only. */
  readonly certificates: string
  /** The counts that a router leaves to the next one. */
  readonly counts: string
  /** The secret of HTTP/3. */
  readonly http3: string
  readonly maps: Readonly<Record<'plain' | 'secure' | 'shares', string>>
}

/** Returns the files beside a control socket. Successors of a router have the same ones. */
export function frontFiles(control: string): FrontFiles {
  // Its full path tells the processes of this installation from others.
  const folder = resolve(dirname(control), 'front')
  const file = (name: string): string => join(folder, name)
  return {
    folder,
    configuration: file('haproxy.cfg'),
    log: file('haproxy.log'),
    admin: file('admin.sock'),
    own: file('own.sock'),
    certificates: file('certificates.list'),
    counts: file('counts.json'),
    http3: file('http3.secret'),
    maps: { plain: file('plain.map'), secure: file('secure.map'), shares: file('shares.map') },
  }
}
