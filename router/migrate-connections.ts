import { writeFile } from 'node:fs/promises'

/** https://docs.kernel.org/networking/ip-sysctl.html */
const setting = '/proc/sys/net/ipv4/tcp_migrate_req'

const expected = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT'])

/**
 * Makes the kernel pass connections that wait for a listener to the next listener of its port when
 * the first one closes, so that it resets none. The setting is one of the network namespace. Only
 * root can change it, and it needs Linux 5.14; without it, `closeListener` leaves a window of some
 * microseconds, and handshakes that have not ended are reset. Returns whether it is on now. Rejects
 * with an unexpected error of the file system.
 */
export async function migrateConnections(path = setting): Promise<boolean> {
  try {
    await writeFile(path, '1', { flag: 'r+' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && expected.has(String(error.code))) return false
    throw error
  }
}
