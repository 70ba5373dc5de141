/**
 * Returns the milliseconds of CPU that this process has used. Tests can bound these although others
 * use the machine, too.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
