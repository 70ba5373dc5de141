/** Milliseconds of CPU that this process has used: what a test can bound although others use the machine, too. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
